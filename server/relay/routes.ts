import type { Hono } from 'hono'
import { cors } from 'hono/cors'
import {
  enginePath,
  notServedPaths,
  realtimePath,
  responsesSocketPath,
  storedPaths,
} from '../../contract/relay-paths.ts'
import type { DialectName } from '../dialects/neutral/conversation.ts'
import { GatewayError } from '../errors.ts'
import type { AppContext, AppEnv } from '../http/app-env.ts'
import { clientAddress } from '../http/client-address.ts'
import { limitByAddress } from '../http/limit-by-address.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import { tokenHasQuota } from '../store/accounts/callers.ts'
import { readerDialect } from './admission/authenticate.ts'
import { type RelayRouteDeps, serveCaller } from './admission/serve-caller.ts'
import { type CallRoute, callRouteOf } from './call/call-routes.ts'
import { type Caller, tokenExhausted } from './call/caller.ts'
import { errorResponse } from './failures/error-response.ts'
import { billingUsage, subscription } from './free-calls/billing-calls.ts'
import { modelList, modelsFor, oneModel } from './free-calls/model-list.ts'
import { storedCall } from './free-calls/stored-responses.ts'
import { limitHeaderNames } from './headers/limit-headers.ts'
import { exposedHeaders, idHeaderOf } from './headers/relay-headers.ts'
import { type RealtimeDeps, serveRealtime } from './realtime/serve-realtime.ts'
import { serveResponses } from './realtime/serve-responses.ts'
import { serveRelay } from './serve-call.ts'

/** The pattern of the ids of stored responses, conversations and items. */
const storedIdForm = '[A-Za-z0-9_-]{1,200}'

const responses: CallRoute = { path: '/v1/responses', mode: 'chat', dialect: 'openai-responses' }
const embeddings: CallRoute = { path: '/v1/embeddings', mode: 'embeddings', dialect: 'openai-chat' }

/**
 * Adds all routes under /v1 and /dashboard that accept a relay token, except the POST requests that `callRouteOf`
 * recognizes. Those are the hot path, so they are served before the router is called (see app.ts).
 */
export function mountRelay(app: Hono<AppEnv>, deps: RealtimeDeps, billingLimit: RateLimiter): void {
  const allowAll = cors({
    origin: '*',
    allowMethods: ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'],
    exposeHeaders: [...exposedHeaders, ...limitHeaderNames],
  })
  for (const prefix of ['/v1/*', '/v1alpha/*', '/v1beta/*', '/upload/*', '/dashboard/*']) {
    app.use(prefix, allowAll)
    app.use(prefix, clientAddress(deps.trustedProxies))
  }
  const refuse = (c: AppContext) =>
    errorResponse(new GatewayError('rate_limit_exceeded', 'too many requests from this address'), c.get('requestId'))
  for (const prefix of ['/dashboard/*', '/v1/dashboard/*']) app.use(prefix, limitByAddress(billingLimit, refuse))
  app.post(enginePath.replace('{model}', ':model{.+}'), (c) =>
    serveRelay(deps, { ...incomingOf(c), pathModel: c.req.param('model') }, embeddings),
  )
  for (const path of [realtimePath, `${realtimePath}/`])
    app.get(path, (c) => serveRealtime(deps, incomingOf(c), c.env.upgrade))
  for (const path of [responsesSocketPath, `${responsesSocketPath}/`])
    app.get(path, (c) =>
      serveResponses(deps, incomingOf(c), c.env.upgrade, (turn) => serveRelay(deps, turn, responses)),
    )
  mountStored(app, deps)
  mountModels(app, deps)
  mountBilling(app, deps)
  for (const path of notServedPaths) {
    for (const each of [path, `${path}/*`]) {
      app.all(each, (c) =>
        answer(
          c,
          deps,
          () => {
            throw new GatewayError(
              'api_not_implemented',
              `${c.req.method} ${c.req.path} is not supported by this gateway: ${methodHint(c) ?? 'call the provider directly'}`,
            )
          },
          notServedDialect(path, c),
        ),
      )
    }
  }
}

/** A hint for a request that has a known path but the wrong method. */
function methodHint({ req: { method, path, url } }: AppContext): string | undefined {
  if (method !== 'POST' && callRouteOf(url)) return 'use POST'
  return method !== 'GET' && (path === '/v1/models' || path === '/v1beta/models') ? 'use GET' : undefined
}

/** The dialect for the error response to a path that the gateway does not serve. */
function notServedDialect(path: string, c: AppContext): DialectName {
  if (path.startsWith('/v1/messages')) return 'anthropic-messages'
  if (path.startsWith('/v1beta/') || path.startsWith('/v1alpha/') || path.startsWith('/upload/')) return 'gemini'
  return readerDialect(c.req.raw)
}

/** Adds the routes for responses and conversations that are stored at an upstream. */
function mountStored(app: Hono<AppEnv>, deps: RelayRouteDeps): void {
  for (const { method, path } of storedPaths) {
    const [, kind] = /^\/v1\/(responses|conversations)/.exec(path) ?? []
    const route = path.replace('{id}', `:id{${storedIdForm}}`).replace('{item_id}', `:item_id{${storedIdForm}}`)
    const handle = (c: AppContext) => {
      const id = c.req.param('id')
      const rest = path.replace(/^\/v1\/\w+(?:\/\{id\})?/, '').replace('{item_id}', c.req.param('item_id') ?? '')
      const call = {
        kind: kind === 'conversations' ? kind : 'responses',
        rest,
        ...(id !== undefined && { id }),
      } as const
      return answer(c, deps, (caller) => storedCall(deps.relay, incomingOf(c), caller, call), 'openai-responses')
    }
    app.on(method, route, handle)
  }
}

function mountModels(app: Hono<AppEnv>, deps: RelayRouteDeps): void {
  // Clients of every dialect request this path. The header with their key shows which dialect they use.
  const dialectOf = (c: AppContext) => readerDialect(c.req.raw)
  const list = (c: AppContext) =>
    answer(c, deps, async (caller) => c.json(modelList(dialectOf(c))(await usable(deps, caller))), dialectOf(c))
  for (const path of ['/v1/models', '/v1/models/']) app.get(path, list)
  app.get('/v1/models/:model{.+}', (c) =>
    answer(
      c,
      deps,
      async (caller) => c.json(oneModel(dialectOf(c))(await named(deps, caller, c.req.param('model')))),
      dialectOf(c),
    ),
  )
  const geminiList = (c: AppContext) =>
    answer(c, deps, async (caller) => c.json(modelList('gemini')(await usable(deps, caller))), 'gemini')
  for (const path of ['/v1beta/models', '/v1beta/models/']) app.get(path, geminiList)
  app.get('/v1beta/models/:model{.+}', (c) =>
    answer(
      c,
      deps,
      async (caller) => c.json(oneModel('gemini')(await named(deps, caller, c.req.param('model')))),
      'gemini',
    ),
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
          c.json(await fromDatabase<object>(read(deps.store.read, caller, deps.relay.settings()))),
        )
      for (const path of [`${prefix}/${name}`, `${prefix}/${name}/`]) app.get(path, handle)
    }
  }
}

/** The names of the models that a caller is allowed to use. */
async function usable(deps: RelayRouteDeps, caller: Caller): Promise<string[]> {
  await requireQuota(deps, caller)
  return modelsFor(caller, deps.relay.routing())
}

async function named(deps: RelayRouteDeps, caller: Caller, model: string): Promise<string> {
  if ((await usable(deps, caller)).includes(model)) return model
  throw new GatewayError('model_not_found', `The model '${model}' does not exist`, { param: 'model' })
}

/** Throws if the token has no quota left. Free calls also require quota. */
async function requireQuota(deps: RelayRouteDeps, caller: Caller): Promise<void> {
  if (caller.unlimited || (await fromDatabase(tokenHasQuota(deps.store.read, caller.tokenId)))) return
  deps.exhausted(caller.tokenId)
  throw tokenExhausted(caller)
}

/**
 * Returns the result of a database query. If the query fails, throws `database_unavailable`, because the failure is not
 * the caller's fault.
 */
async function fromDatabase<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new GatewayError('database_unavailable', 'the account database cannot be reached; try again', {
      cause: error,
    })
  }
}

async function answer(
  c: AppContext,
  deps: RelayRouteDeps,
  run: (caller: Caller) => Promise<Response>,
  dialect: DialectName = 'openai-chat',
): Promise<Response> {
  const response = await serveCaller(deps, incomingOf(c), run, dialect)
  response.headers.set(idHeaderOf(dialect), c.get('requestId'))
  return response
}

function incomingOf(c: AppContext) {
  return {
    request: c.req.raw,
    requestId: c.get('requestId'),
    address: () => c.get('clientAddress'),
    ended: () => c.env.mayBeSilent?.(false),
  }
}
