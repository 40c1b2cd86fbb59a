import type { Hono } from 'hono'
import * as z from 'zod/mini'
import type { Endpoint, MediaEndpoint } from '../../contract/api/endpoint.ts'
import { isRepeatable } from '../../contract/api/list-query.ts'
import { mayAccess } from '../../contract/roles.ts'
import { PasswordsBusy } from '../lib/secrets/password.ts'
import type { Turns } from '../lib/turns.ts'
import { isDatabaseError, isUniqueViolation } from '../store/statements/database-errors.ts'
import type { Trx } from '../store/store.ts'
import { ApiFailure, refusalBody, tooManyRequests } from './api-failure.ts'
import type { AppContext, AppEnv, Person } from './app-env.ts'
import { addressKey } from './client-address.ts'
import { parseInput, readJson, readText, refuseUnknown } from './parse-input.ts'
import type { RateLimiter } from './rate-limit.ts'
import { isCrossSite, isPageLoad } from './same-origin.ts'
import type { Identity, Sessions } from './session.ts'

/** The objects that every endpoint of the management API needs. */
export interface ApiRouter {
  app: Hono<AppEnv>
  sessions: Sessions
  /** Counts the calls of endpoints marked `critical`, per client address. */
  criticalLimit: RateLimiter
  warn(message: string): void
  /** How long a body may take to arrive, in milliseconds; 0 = no limit. */
  bodyTimeMs(): number
  turns: Turns
}

/** One call, validated and parsed. */
export interface Call<E extends Endpoint> {
  params: z.output<E['params']>
  query: z.output<E['query']>
  body: z.output<E['body']>
  clientAddress: string
  context: AppContext
}

/** A call of a logged-in person. */
export interface PersonCall<E extends Endpoint> extends Call<E> {
  /** The person as of the time when the request arrived. */
  person: Person
  /**
   * Must be called at the start of a transaction whose changes require that the caller's login and role are still
   * valid. Locks the caller's account and, if the transaction changes another account, the account `targetId`. Throws
   * if the endpoint would no longer serve the caller. Returns the person with the current values.
   */
  admitAgain(trx: Trx, targetId?: number): Promise<Person>
}

/** An endpoint without response data may be served by a function that returns nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: the return type of a function, whatever the shape of the union
type Data<E extends Endpoint> = undefined extends z.input<E['data']> ? z.input<E['data']> | void : z.input<E['data']>
type Result<E extends Endpoint> = E extends MediaEndpoint ? Response : Data<E>
type Answer<E extends Endpoint> = Result<E> | Promise<Result<E>>

export interface ServeOptions {
  /** Called before the input is read. Throws if the call is refused regardless of its input. */
  before?: () => void
}

/**
 * Serves an endpoint to the people who may use it. Checks access, parses the input, calls the handler, checks the
 * result against the schema, and wraps it in the response envelope.
 */
export function serve<E extends Endpoint>(
  router: ApiRouter,
  endpoint: E,
  handler: (call: PersonCall<E>) => Answer<E>,
  options: ServeOptions = {},
): void {
  if (endpoint.access === 'public') throw new Error(`${endpoint.path} is public: use servePublic`)
  register(router, endpoint, options, async (c) => {
    const { sessions } = router
    const person = admitted(await sessions.identify(c), endpoint)
    c.set('person', person)
    return handler({
      ...(await readCall(router, c, endpoint)),
      person,
      admitAgain: async (trx, targetId) =>
        admitted(await sessions.identifyAgain(c, trx, person.id, targetId), endpoint),
    })
  })
}

/** Serves an endpoint that needs no login. */
export function servePublic<E extends Endpoint>(
  router: ApiRouter,
  endpoint: E,
  handler: (call: Call<E>) => Answer<E>,
  options: ServeOptions = {},
): void {
  if (endpoint.access !== 'public') throw new Error(`${endpoint.path} needs a login: use serve`)
  register(router, endpoint, options, async (c) => handler(await readCall(router, c, endpoint)))
}

function register<E extends Endpoint>(
  router: ApiRouter,
  endpoint: E,
  options: ServeOptions,
  work: (c: AppContext) => Answer<E>,
): void {
  const handle = async (c: AppContext): Promise<Response> => {
    c.header('Cache-Control', 'no-store')
    // Responses may contain text that users wrote, so a browser must not interpret them as pages.
    c.header('X-Content-Type-Options', 'nosniff')
    try {
      refuseOtherSites(router.sessions, c, endpoint)
      if (endpoint.critical) {
        const wait = router.criticalLimit.take(addressKey(c.get('clientAddress')))
        if (wait > 0) throw tooManyRequests(wait)
      }
      options.before?.()
      const answer: unknown = await work(c)
      if (!(answer instanceof Response)) return wrap(c, endpoint, z.parse(endpoint.data, answer))
      if (c.req.method !== 'HEAD') return answer
      // The response to a HEAD request has no body. The body is cancelled, so that its producer stops.
      await answer.body?.cancel()
      return new Response(null, answer)
    } catch (error) {
      return answerError(c, error, router.warn)
    }
  }
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1').replace(/\/$/, '')
  router.app.on(endpoint.method, [path, `${path}/`], handle)
}

function refuseOtherSites(sessions: Sessions, c: AppContext, endpoint: Endpoint): void {
  if (endpoint.method === 'GET' && !endpoint.changesState) return
  // A request with an Authorization header and without a cookie is not checked. Browsers send cookies automatically,
  // but they send an Authorization header only if the page was allowed to set it. This server never allows pages of
  // other sites to set it.
  if (!sessions.hasCookie(c) && c.req.header('authorization') !== undefined) return
  if (isCrossSite(c.req.raw)) throw new ApiFailure('Requests from pages of other sites are refused.', 403)
  if (endpoint.method === 'GET' && endpoint.changesState !== 'record' && isPageLoad(c.req.raw)) {
    throw new ApiFailure('This request changes something, so a browser cannot open it as a page or an image.', 403)
  }
}

function admitted(identity: Identity, endpoint: Endpoint): Person {
  if (identity.kind === 'nobody') throw new ApiFailure('Not logged in. Log in or send an access token.', 401)
  if (identity.kind === 'unknown-access-token') throw new ApiFailure('The access token is not valid.')
  if (identity.kind === 'banned') throw new ApiFailure('This account has been banned.')
  if (!mayAccess(identity.person.role, endpoint.access)) {
    throw new ApiFailure('You do not have permission to do this.')
  }
  return identity.person
}

async function readCall<E extends Endpoint>(router: ApiRouter, c: AppContext, endpoint: E): Promise<Call<E>> {
  const params = c.req.param() as Record<string, string>
  const given = c.req.queries()
  if ([...Object.values(params), ...Object.values(given).flat()].some((value) => value.includes('\0'))) {
    throw new ApiFailure('The URL must not contain NUL characters.')
  }
  if (!isDecodable(c.req.url)) throw new ApiFailure('The URL is not valid UTF-8.')
  return {
    params: parseInput<E['params']>(endpoint.params, params),
    query: parseInput<E['query']>(endpoint.query, queryOf(endpoint.query, given)),
    body: await parseBody(router, c, endpoint),
    clientAddress: c.get('clientAddress'),
    context: c,
  }
}

/**
 * Converts the parameters of a query. If the schema expects a list for a parameter, all of the parameter's values are
 * returned; otherwise, only the first.
 */
function queryOf(
  schema: z.ZodMiniType,
  given: Record<string, string[]>,
): Record<string, string | string[] | undefined> {
  const shape = schema instanceof z.ZodMiniObject ? (schema.shape as Record<string, object>) : {}
  return Object.fromEntries(
    Object.entries(given).map(([name, values]) => {
      const field = Object.hasOwn(shape, name) ? shape[name] : undefined
      return [name, field && isRepeatable(field) ? values : values[0]]
    }),
  )
}

/**
 * True if the percent-encoded bytes in a URL are valid UTF-8. A percent sign that does not begin an escape is literal.
 */
function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url.replaceAll(/%(?![\da-fA-F]{2})/g, '%25'))
    return true
  } catch {
    return false
  }
}

async function parseBody<E extends Endpoint>(
  router: ApiRouter,
  c: AppContext,
  endpoint: E,
): Promise<z.output<E['body']>> {
  const status = endpoint.badBodyStatus ?? 200
  if (endpoint.fileBody) return parseInput<E['body']>(endpoint.body, {}, status)
  if (endpoint.textBody) {
    const text = await readText(c.req.raw, { timeMs: router.bodyTimeMs(), types: endpoint.textBody })
    return parseInput<E['body']>(endpoint.body, { text }, status)
  }
  const takesBody = endpoint.method === 'POST' || endpoint.method === 'PUT'
  const json = takesBody ? await readJson(c.req.raw, { status, timeMs: router.bodyTimeMs(), turns: router.turns }) : {}
  refuseUnknown(endpoint.body, json, endpoint.ignores, status)
  return parseInput<E['body']>(endpoint.body, json, status)
}

function wrap(c: AppContext, endpoint: Endpoint, data: unknown): Response {
  if (endpoint.envelope === 'bare') return c.json(data as object)
  const message = c.get('successMessage') ?? ''
  if (endpoint.envelope === 'flat') return c.json({ success: true, message, ...(data as object) })
  return c.json(data === undefined ? { success: true, message } : { success: true, message, data })
}

function answerError(c: AppContext, thrown: unknown, warn: (message: string) => void): Response {
  const error = thrown instanceof PasswordsBusy ? busy(thrown) : thrown
  if (error instanceof ApiFailure) {
    // After a timeout, the server does not wait for the rest of the request's body, so it closes the connection.
    if (error.status === 408) c.header('Connection', 'close')
    if (error.retryAfterSeconds !== undefined) c.header('Retry-After', String(error.retryAfterSeconds))
    const body = error.isQuoted ? { success: false, message: error.message } : refusalBody(error.message)
    return c.json({ ...body, ...error.extra }, error.status)
  }
  // Names are checked before they are written, so a conflict means that another request has just written the same name.
  if (isUniqueViolation(error)) return c.json(refusalBody('This value is already taken.'))
  warn(`${c.req.method} ${c.req.path} failed (request ${c.get('requestId') ?? '-'}): ${describe(error)}`)
  if (isDatabaseError(error)) {
    return c.json(refusalBody('The database cannot be reached, please try again later.'), 503)
  }
  return c.json(refusalBody('Internal server error, please contact the administrator.'), 500)
}

function busy({ retryAfterSeconds }: PasswordsBusy): ApiFailure {
  return new ApiFailure('Too many people are logging in just now, please try again in a moment.', 503, {
    retryAfterSeconds,
  })
}

function describe(error: unknown): string {
  if (error instanceof z.core.$ZodError) return `the answer does not fit its schema: ${error.message}`
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
