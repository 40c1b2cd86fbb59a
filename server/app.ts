import { Hono } from 'hono'
import { dialectPaths, relayPaths } from '../contract/relay-paths.ts'
import type { Context } from './context.ts'
import type { AppEnv } from './http/app-env.ts'
import { clientAddress, originReader } from './http/client-address.ts'
import type { ConsoleFiles } from './http/console-files.ts'
import { mountHealth } from './http/health.ts'
import { limitByAddress } from './http/limit-by-address.ts'
import { atUsualAddress } from './http/other-addresses.ts'
import { requestIds } from './http/request-id.ts'
import { unknownPath } from './http/unknown-path.ts'
import { isEventStream } from './lib/bytes/sse.ts'
import { requestId } from './lib/secrets/ids.ts'
import { type Management, managementOf } from './management.ts'
import { readerDialect } from './relay/admission/authenticate.ts'
import { callRouteOf } from './relay/call/call-routes.ts'
import { mountRelay } from './relay/routes.ts'
import { serveRelay } from './relay/serve-call.ts'

/** The options of the app, in addition to the context. */
export interface AppOptions {
  metricsToken: string | undefined
  /** Absent if only the API is served. */
  console?: ConsoleFiles
  /** The prefix of every path as clients see it, for example '' or '/gateway'. */
  basePath?: string
}

/** The HTTP application: the function that handles requests, and its routes. */
export interface App {
  fetch(request: Request, env: AppEnv['Bindings']): Response | Promise<Response>
  /** All registered routes, including middleware (method ALL), for tests that check each route. */
  routes(): Promise<readonly { method: string; path: string }[]>
}

/**
 * Creates the app with all its paths. Relayed POST requests are the hot path, so they are looked up in a single table
 * and pass through no middleware. All other requests go through the router.
 */
export function createApp(context: Context, options: AppOptions): App {
  const management = managementOf(context.api)
  const router = createRouter(context, management, options)
  const { clock } = context.api
  const origin = originReader(context.relay.trustedProxies)
  return {
    routes: async () => [
      ...[...relayPaths, ...dialectPaths].map(({ path }) => ({ method: 'POST', path })),
      ...router.routes,
      ...(await management.routes()),
    ],
    fetch(incoming, env) {
      const request = atUsualAddress(withoutBase(absolute(incoming), options.basePath ?? ''))
      const route = request.method === 'POST' ? callRouteOf(request.url) : undefined
      env.mayBeSilent?.(true)
      const ended = () => env.mayBeSilent?.(false)
      if (!route) return routed(router, request, env, ended)
      const id = requestId(clock.nowMs())
      const address = () => origin(request, env.socketAddress).address
      return serveRelay(context.relay, { request, requestId: id, address, ended }, route)
    },
  }
}

/**
 * Serves a request through the router, and calls `ended` once there is a response. It does not call `ended` for
 * responses that may take long: responses to POST requests under /v1/, live logs, and downloads. Only logged-in users
 * receive live logs and downloads.
 */
async function routed(
  router: Hono<AppEnv>,
  request: Request,
  env: AppEnv['Bindings'],
  ended: () => void,
): Promise<Response> {
  let isLong = false
  try {
    const response = await router.fetch(request, env)
    const { headers } = response
    const isCall = request.method === 'POST' && pathnameOf(request.url).startsWith('/v1/')
    isLong = isCall || headers.has('content-disposition') || isEventStream(headers)
    return response
  } finally {
    if (!isLong) ended()
  }
}

/**
 * Makes the URL of a request absolute. A request without a Host header has only a path as its URL. Some health checks
 * use HTTP/1.0 and send such requests.
 */
function absolute(request: Request): Request {
  return request.url.startsWith('/') ? new Request(`http://localhost${request.url}`, request) : request
}

/** Removes the base path from a request's URL. The path is not there if the proxy has already removed it. */
function withoutBase(request: Request, basePath: string): Request {
  if (basePath === '') return request
  const path = pathnameOf(request.url)
  if (path !== basePath && !path.startsWith(`${basePath}/`)) return request
  const from = request.url.indexOf(path, request.url.indexOf('://') + 3)
  const rest = request.url.slice(from + basePath.length)
  return new Request(`${request.url.slice(0, from)}${rest.startsWith('/') ? rest : `/${rest}`}`, request)
}

/** The path of an absolute URL, undecoded. */
function pathnameOf(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3)
  const to = url.indexOf('?', from)
  return to < 0 ? url.slice(from) : url.slice(from, to)
}

/** Registers every path of the router, and the middleware in the order in which requests pass through it. */
function createRouter(context: Context, management: Management, options: AppOptions): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  // The request id appears in every error response and log row, and is returned as X-Oneapi-Request-Id.
  app.use(requestIds(context.api.clock))
  mountHealth(app, {
    store: context.store,
    metrics: context.metrics,
    metricsToken: options.metricsToken,
    draining: context.relay.draining,
    canWrite: context.canWrite,
  })
  mountRelay(app, context.relay, context.limits.billing)
  // This serves everything under /api, including unknown paths, so no route under /api may be mounted after it.
  for (const path of ['/api', '/api/*']) app.all(path, management.serve)
  for (const path of ['/v1/*', '/v1alpha/*', '/v1beta/*', '/upload/*'])
    app.all(path, (c) => unknownPath(c, readerDialect(c.req.raw)))
  app.all('/dashboard/*', (c) => unknownPath(c))
  // The rate limit for all other paths needs the client's address.
  app.use(clientAddress(context.relay.trustedProxies))
  app.use(limitByAddress(context.limits.web, (c) => c.text('Too many requests, please try again later.', 429)))
  // Serves the console's files, and the console page for each of the console's routes.
  app.notFound((c) => options.console?.serve(c) ?? unknownPath(c, readerDialect(c.req.raw)))
  return app
}
