import type { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { RelayMode } from '../../contract/relay-modes.ts'
import { readRequest } from '../dialects/openai/request.ts'
import { GatewayError } from '../errors.ts'
import type { AppContext, AppEnv } from '../http/app-env.ts'
import { clientAddress } from '../http/client-address.ts'
import type { JsonObject } from '../lib/json.ts'
import { hasTwice } from '../lib/json-edit.ts'
import { tokenHasQuota } from '../store/callers.ts'
import type { Store } from '../store/store.ts'
import { type AuthenticateDeps, authenticate } from './authenticate.ts'
import { billingUsage, subscription } from './billing-calls.ts'
import type { CallBody, RelayCall } from './call.ts'
import type { Caller } from './caller.ts'
import { errorResponse } from './deliver.ts'
import type { RelayDeps } from './deps.ts'
import { readForm } from './form-body.ts'
import { forwardedHeaders } from './headers.ts'
import { readJson } from './json-body.ts'
import { modelEntry, modelsFor } from './models.ts'
import { relay } from './relay.ts'

export interface RelayRouteDeps {
  relay: RelayDeps
  authenticate: AuthenticateDeps
  store: Store
  trustedProxies: readonly string[]
  /** Folder for uploads too large for memory. */
  spoolDir: string
  /** Called for a token that turned out to be used up, so that lists show it. */
  exhausted(tokenId: number): void
  /** True once the process is asked to end: open calls go on, new ones are refused. */
  draining(): boolean
}

/** One path of the API and the kind of call it is; `upstreamPath` where that differs from what the caller writes. */
interface RelayPath {
  path: string
  mode: RelayMode
  form?: true
  upstreamPath?: string
}

const relayPaths: readonly RelayPath[] = [
  { path: '/v1/chat/completions', mode: 'chat' },
  { path: '/v1/completions', mode: 'completions' },
  { path: '/v1/embeddings', mode: 'embeddings' },
  { path: '/v1/engines/:model{.+}/embeddings', mode: 'embeddings', upstreamPath: '/v1/embeddings' },
  { path: '/v1/moderations', mode: 'moderations' },
  { path: '/v1/images/generations', mode: 'images' },
  { path: '/v1/images/edits', mode: 'image-edits', form: true },
  { path: '/v1/images/variations', mode: 'image-variations', form: true },
  { path: '/v1/audio/speech', mode: 'speech' },
  { path: '/v1/audio/transcriptions', mode: 'transcriptions', form: true },
  { path: '/v1/audio/translations', mode: 'translations', form: true },
]

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

/** Everything under /v1 and /dashboard that takes a relay token. */
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
  for (const route of relayPaths)
    app.post(route.path, (c) => answer(c, deps, (caller) => relayed(c, deps, caller, route)))
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
  app.get('/v1/models', (c) =>
    answer(c, deps, async (caller) => {
      await requireQuota(deps, caller)
      return c.json({ object: 'list', data: modelsFor(caller, deps.relay.routing()).map(modelEntry) })
    }),
  )
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
    app.get(`${prefix}/subscription`, (c) =>
      answer(c, deps, async (caller) => c.json(await subscription(deps.store.read, caller, deps.relay.settings()))),
    )
    app.get(`${prefix}/usage`, (c) =>
      answer(c, deps, async (caller) => c.json(await billingUsage(deps.store.read, caller, deps.relay.settings()))),
    )
  }
}

/** A call that takes no quota still needs a token that has some. */
async function requireQuota(deps: RelayRouteDeps, caller: Caller): Promise<void> {
  if (caller.unlimited || (await tokenHasQuota(deps.store.read, caller.tokenId))) return
  deps.exhausted(caller.tokenId)
  throw new GatewayError('token_exhausted', `the quota of token ${caller.tokenName} (#${caller.tokenId}) is exhausted`)
}

/** Authenticates, runs, and turns every failure into an OpenAI-shaped answer. */
async function answer(
  c: AppContext,
  deps: RelayRouteDeps,
  run: (caller: Caller) => Promise<Response>,
): Promise<Response> {
  const requestId = c.get('requestId')
  try {
    if (deps.draining())
      throw new GatewayError('shutting_down', 'this server is shutting down, try again', { retryAfterSeconds: 1 })
    const caller = await authenticate(deps.authenticate, c.req.header('authorization'), c.get('clientAddress'))
    return await run(caller)
  } catch (error) {
    if (error instanceof GatewayError && error.status < 500) return errorResponse(error, requestId)
    if (!(error instanceof GatewayError) && !isExpected(error))
      deps.relay.events.warning(`${requestId}: ${describe(error)}`)
    return errorResponse(error, requestId)
  }
}

function isExpected(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof GatewayError
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

async function relayed(c: AppContext, deps: RelayRouteDeps, caller: Caller, route: RelayPath): Promise<Response> {
  const startedAtMs = deps.relay.clock.nowMs()
  const body = await readBody(c, deps, route.form === true)
  try {
    const call = buildCall(c, caller, route, body, startedAtMs)
    return await relay(deps.relay, call)
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'token_exhausted') deps.exhausted(caller.tokenId)
    throw error
  } finally {
    // The upstream has read the upload by the time it answers.
    if (body.kind === 'form') await body.form.dispose()
  }
}

async function readBody(c: AppContext, deps: RelayRouteDeps, isForm: boolean): Promise<CallBody> {
  const limitBytes = deps.relay.settings().RequestSizeLimit
  if (!isForm) return { kind: 'json', ...(await readJson(c.req.raw, limitBytes)) }
  const type = c.req.header('content-type') ?? ''
  if (!type.toLowerCase().startsWith('multipart/form-data')) {
    throw new GatewayError('unsupported_media_type', 'this call takes multipart/form-data')
  }
  if (Number(c.req.header('content-length') ?? 0) > limitBytes) {
    throw new GatewayError('request_too_large', `the request is larger than ${limitBytes} bytes`)
  }
  return { kind: 'form', form: await readForm(c.req.raw.body, type, limitBytes, deps.spoolDir) }
}

function buildCall(c: AppContext, caller: Caller, route: RelayPath, body: CallBody, startedAtMs: number): RelayCall {
  if (body.kind === 'json' && hasTwice(body.text, 'model')) {
    throw new GatewayError('invalid_field_value', 'model stands twice in the request', { param: 'model' })
  }
  const pathModel = c.req.param('model')
  const facts = readRequest(route.mode, body.kind === 'json' ? body.json : formFacts(body.form.fields), pathModel)
  if (caller.allowedModels && !caller.allowedModels.has(facts.model)) {
    throw new GatewayError('model_not_allowed', `this token may not use model ${facts.model}`, { param: 'model' })
  }
  return {
    requestId: c.get('requestId'),
    mode: route.mode,
    path: route.upstreamPath ?? route.path,
    caller,
    body,
    facts,
    headers: forwardedHeaders(c.req.raw.headers),
    signal: c.req.raw.signal,
    startedAtMs,
  }
}

function formFacts(fields: ReadonlyMap<string, string>): JsonObject {
  const stream = fields.get('stream')
  return { ...Object.fromEntries(fields), ...(stream !== undefined && { stream: stream === 'true' }) }
}
