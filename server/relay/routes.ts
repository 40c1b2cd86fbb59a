import type { Hono } from 'hono'
import { cors } from 'hono/cors'
import { enginePath, notServedPaths, type RelayPath } from '../../contract/relay-paths.ts'
import { GatewayError } from '../errors.ts'
import type { AppContext, AppEnv } from '../http/app-env.ts'
import { clientAddress } from '../http/client-address.ts'
import { limitByAddress } from '../http/limit-by-address.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import { tokenHasQuota } from '../store/callers.ts'
import { billingUsage, subscription } from './billing-calls.ts'
import type { Caller } from './caller.ts'
import { errorResponse } from './deliver.ts'
import { limitHeaderNames } from './limit-headers.ts'
import { listedModel, modelsFor } from './models.ts'
import { type RelayRouteDeps, serveCaller, serveRelay } from './serve-call.ts'

const embeddings: RelayPath = { path: '/v1/embeddings', mode: 'embeddings' }

/**
 * Everything under /v1 and /dashboard that takes a relay token, the POSTs of `relayPathOf` apart: those are the hot path
 * and are served before the router (see app.ts).
 */
export function mountRelay(app: Hono<AppEnv>, deps: RelayRouteDeps, billingLimit: RateLimiter): void {
  const allowAll = cors({
    origin: '*',
    allowMethods: ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'],
    exposeHeaders: ['X-Oneapi-Request-Id', ...limitHeaderNames],
  })
  for (const prefix of ['/v1/*', '/dashboard/*']) {
    app.use(prefix, allowAll)
    app.use(prefix, clientAddress(deps.trustedProxies))
  }
  const refuse = (c: AppContext) =>
    errorResponse(new GatewayError('rate_limit_exceeded', 'too many requests from this address'), c.get('requestId'))
  for (const prefix of ['/dashboard/*', '/v1/dashboard/*']) app.use(prefix, limitByAddress(billingLimit, refuse))
  app.post(enginePath.replace('{model}', ':model{.+}'), (c) =>
    serveRelay(deps, { ...incomingOf(c), pathModel: c.req.param('model') }, embeddings),
  )
  mountModels(app, deps)
  mountBilling(app, deps)
  for (const path of notServedPaths) {
    for (const each of [path, `${path}/*`]) {
      app.all(each, (c) =>
        answer(c, deps, () => {
          throw new GatewayError('api_not_implemented', `${c.req.method} ${c.req.path} is not served by this gateway`)
        }),
      )
    }
  }
}

function mountModels(app: Hono<AppEnv>, deps: RelayRouteDeps): void {
  const list = (c: AppContext) =>
    answer(c, deps, async (caller) => {
      await requireQuota(deps, caller)
      return c.json({ object: 'list', data: modelsFor(caller, deps.relay.routing()).map(listedModel) })
    })
  for (const path of ['/v1/models', '/v1/models/']) app.get(path, list)
  app.get('/v1/models/:model{.+}', (c) =>
    answer(c, deps, async (caller) => {
      await requireQuota(deps, caller)
      const model = c.req.param('model')
      if (modelsFor(caller, deps.relay.routing()).includes(model)) return c.json(listedModel(model))
      throw new GatewayError('model_not_found', `The model '${model}' does not exist`, { param: 'model' })
    }),
  )
}

function mountBilling(app: Hono<AppEnv>, deps: RelayRouteDeps): void {
  for (const prefix of ['/dashboard/billing', '/v1/dashboard/billing']) {
    for (const [name, read] of [
      ['subscription', subscription],
      ['usage', billingUsage],
    ] as const) {
      const handle = (c: AppContext) =>
        answer(c, deps, async (caller) =>
          c.json(await asked<object>(read(deps.store.read, caller, deps.relay.settings()))),
        )
      for (const path of [`${prefix}/${name}`, `${prefix}/${name}/`]) app.get(path, handle)
    }
  }
}

/** A call that takes no quota still needs a token that has some. */
async function requireQuota(deps: RelayRouteDeps, caller: Caller): Promise<void> {
  if (caller.unlimited || (await asked(tokenHasQuota(deps.store.read, caller.tokenId)))) return
  deps.exhausted(caller.tokenId)
  throw new GatewayError('token_exhausted', `the quota of token ${caller.tokenName} (#${caller.tokenId}) is exhausted`)
}

/** What the database says; its failure is nobody's fault who asks. */
async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new GatewayError('database_unavailable', 'the account database cannot be reached, try again', {
      cause: error,
    })
  }
}

function answer(c: AppContext, deps: RelayRouteDeps, run: (caller: Caller) => Promise<Response>): Promise<Response> {
  return serveCaller(deps, incomingOf(c), run)
}

function incomingOf(c: AppContext) {
  return { request: c.req.raw, requestId: c.get('requestId'), address: () => c.get('clientAddress') }
}
