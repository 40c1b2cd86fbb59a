import { Hono } from 'hono'
import { mountApi } from './api/routes.ts'
import type { Context } from './context.ts'
import type { AppEnv } from './http/app-env.ts'
import { originReader } from './http/client-address.ts'
import { mountHealth } from './http/health.ts'
import { landingPage } from './http/landing-page.ts'
import { requestIdHeader, requestIds } from './http/request-id.ts'
import { unknownPath } from './http/unknown-path.ts'
import { requestId } from './lib/ids.ts'
import { mountRelay } from './relay/routes.ts'
import { relayPathOf, serveRelay } from './relay/serve-call.ts'

/** The program as a function from request to answer. */
export interface App {
  fetch(request: Request, env: AppEnv['Bindings']): Response | Promise<Response>
}

/**
 * Puts together every path. A relayed POST is the hot path: it is looked up in one table and passes no middleware;
 * everything else goes through the router.
 */
export function createApp(context: Context, options: { metricsToken: string | undefined }): App {
  const router = createRouter(context, options)
  const { clock } = context.api
  const origin = originReader(context.relay.trustedProxies)
  return {
    async fetch(request, env) {
      const route = request.method === 'POST' ? relayPathOf(pathnameOf(request.url)) : undefined
      if (!route) return router.fetch(request, env)
      const id = requestId(clock.nowMs())
      const address = () => origin(request, env.socketAddress).address
      const response = await serveRelay(context.relay, { request, requestId: id, address }, route)
      response.headers.set(requestIdHeader, id)
      // Browsers may call with a token; cookies play no part here (see relay/routes.ts for the preflight).
      response.headers.set('Access-Control-Allow-Origin', '*')
      response.headers.set('Access-Control-Expose-Headers', requestIdHeader)
      return response
    },
  }
}

/** The path of an absolute address, undecoded. */
function pathnameOf(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3)
  const to = url.indexOf('?', from)
  return to < 0 ? url.slice(from) : url.slice(from, to)
}

/** Every path of the router and, in order, what a request passes. */
function createRouter(context: Context, options: { metricsToken: string | undefined }): Hono<AppEnv> {
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
