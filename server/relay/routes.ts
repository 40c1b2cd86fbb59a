import type { Hono } from 'hono'
import { cors } from 'hono/cors'
import { GatewayError } from '../errors.ts'
import type { AppContext, AppEnv } from '../http/app-env.ts'
import { clientAddress } from '../http/client-address.ts'
import { tokenHasQuota } from '../store/callers.ts'
import { billingUsage, subscription } from './billing-calls.ts'
import type { Caller } from './caller.ts'
import { modelEntry, modelsFor } from './models.ts'
import { type RelayPath, type RelayRouteDeps, serveCaller, serveRelay } from './serve-call.ts'

const embeddings: RelayPath = { path: '/v1/embeddings', mode: 'embeddings' }

/** Parts of the OpenAI API that exist but are not served here. */
const notServed = [
  '/v1/edits',
  '/v1/responses',
  '/v1/files',
  '/v1/uploads',
  '/v1/batches',
  '/v1/fine-tunes',
  '/v1/fine_tuning',
  '/v1/assistants',
  '/v1/threads',
  '/v1/vector_stores',
  '/v1/realtime',
  '/v1/containers',
  '/v1/conversations',
  '/v1/evals',
  '/v1/videos',
  '/v1/organization',
  '/v1/chat/completions',
  '/v1/models',
]

/**
 * Everything under /v1 and /dashboard that takes a relay token, the POSTs of `relayPathOf` apart: those are the hot path
 * and are served before the router (see app.ts).
 */
export function mountRelay(app: Hono<AppEnv>, deps: RelayRouteDeps): void {
  const allowAll = cors({
    origin: '*',
    allowMethods: ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'],
    exposeHeaders: ['X-Oneapi-Request-Id'],
  })
  for (const prefix of ['/v1/*', '/dashboard/*']) {
    app.use(prefix, allowAll)
    app.use(prefix, clientAddress(deps.trustedProxies))
  }
  app.post('/v1/engines/:model{.+}/embeddings', (c) =>
    serveRelay(deps, { ...incomingOf(c), pathModel: c.req.param('model') }, embeddings),
  )
  mountModels(app, deps)
  mountBilling(app, deps)
  for (const path of notServed) {
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
      return c.json({ object: 'list', data: modelsFor(caller, deps.relay.routing()).map(modelEntry) })
    })
  for (const path of ['/v1/models', '/v1/models/']) app.get(path, list)
  app.get('/v1/models/:model{.+}', (c) =>
    answer(c, deps, async (caller) => {
      await requireQuota(deps, caller)
      const model = c.req.param('model')
      if (modelsFor(caller, deps.relay.routing()).includes(model)) return c.json(modelEntry(model))
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
