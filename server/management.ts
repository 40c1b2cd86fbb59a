import { Hono } from 'hono'
import type { ApiDeps } from './api/deps.ts'
import type { AppContext, AppEnv } from './http/app-env.ts'

/**
 * The management API. It is loaded when the first request to it arrives, because its schemas would take a third of the
 * memory of a new process.
 */
export interface Management {
  /** Responds to a request whose `requestId` is set. */
  serve(c: AppContext): Promise<Response>
  /** All its routes. */
  routes(): Promise<Hono<AppEnv>['routes']>
}

export function managementOf(deps: ApiDeps): Management {
  let loading: Promise<Hono<AppEnv>> | undefined
  const load = () => (loading ??= loadApi(deps))
  return {
    serve: async (c) =>
      (await load()).fetch(c.req.raw, Object.assign(Object.create(c.env ?? null), { requestId: c.get('requestId') })),
    routes: async () => (await load()).routes,
  }
}

async function loadApi(deps: ApiDeps): Promise<Hono<AppEnv>> {
  const { mountApi } = await import('./api/routes.ts')
  const app = new Hono<AppEnv>()
  app.use((c, next) => {
    c.set('requestId', c.env.requestId ?? '')
    return next()
  })
  mountApi(app, deps)
  return app
}
