import { Hono } from 'hono'
import { mountApi } from './api/routes.ts'
import type { Context } from './context.ts'
import type { AppEnv } from './http/app-env.ts'
import { mountHealth } from './http/health.ts'
import { landingPage } from './http/landing-page.ts'
import { requestIds } from './http/request-id.ts'
import { unknownPath } from './http/unknown-path.ts'
import { mountRelay } from './relay/routes.ts'

/** The program: every path and, in order, what a request passes. */
export function createApp(context: Context, options: { metricsToken: string | undefined }): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  // requestId: read by every error answer and log row; sent back as X-Oneapi-Request-Id.
  app.use(requestIds(context.api.clock))
  mountHealth(app, {
    store: context.store,
    metrics: context.metrics,
    metricsToken: options.metricsToken,
    draining: context.relay.draining,
  })
  mountRelay(app, context.relay)
  mountApi(app, context.api)
  app.all('/v1/*', unknownPath)
  app.all('/dashboard/*', unknownPath)
  app.get('/', landingPage)
  app.notFound(unknownPath)
  return app
}
