import type { CallLimits } from '../../billing/limits.ts'
import type { DialectName } from '../../dialects/neutral/conversation.ts'
import { describeFault, type ErrorCode, GatewayError } from '../../errors.ts'
import { epochSeconds } from '../../lib/clock.ts'
import type { CallerRow } from '../../store/accounts/callers.ts'
import { currentMinutes } from '../../store/ledger/limits.ts'
import type { Store } from '../../store/store.ts'
import type { Caller } from '../call/caller.ts'
import type { RelayDeps } from '../call/deps.ts'
import { refuseLoop } from '../call/via.ts'
import { shuttingDown } from '../cancellation/shutting-down.ts'
import { errorResponse, statusOfRefusal } from '../failures/error-response.ts'
import type { FailedCallLog } from '../failures/failed-calls.ts'
import { failedRow } from '../failures/failed-row.ts'
import { hasMinuteLimit, limitHeaderNames, limitHeaders } from '../headers/limit-headers.ts'
import { describeRequest } from '../request/describe-request.ts'
import type { Incoming } from '../request/incoming.ts'
import { type AuthenticateDeps, authenticate, credentialOf, refusedCaller } from './authenticate.ts'

export interface RelayRouteDeps {
  relay: RelayDeps
  authenticate: AuthenticateDeps
  store: Store
  trustedProxies: readonly string[]
  failedCalls: FailedCallLog
  /** Folder for uploads too large for memory. */
  spoolDir: string
  /** Called when a token turns out to be used up, so that token lists show it as exhausted. */
  exhausted(tokenId: number): void
  /** True once the process has been asked to shut down. Open calls continue, and new ones are refused. */
  draining(): boolean
}

/**
 * Authenticates the caller, runs the call, and turns every failure into a response in the caller's dialect. If the
 * caller has limits, the headers of every response report their state.
 */
export async function serveCaller(
  deps: RelayRouteDeps,
  incoming: Incoming,
  run: (caller: Caller) => Promise<Response>,
  dialect: DialectName = 'openai-chat',
): Promise<Response> {
  const { request } = incoming
  const { deadlineWatch } = deps.relay
  let caller: Caller | undefined
  let response: Response
  deadlineWatch.begin()
  try {
    if (deps.draining()) {
      throw shuttingDown()
    }
    refuseLoop(request.headers, deps.relay.installationId)
    const result = authenticate(deps.authenticate, credentialOf(request, dialect), incoming.address)
    caller = result instanceof Promise ? await result : result
    response = await run(caller)
  } catch (error) {
    response = refused(deps, incoming, caller ?? refusedCaller(error), error, dialect)
    // A body of undeclared length may be endless. The connection is closed so that a caller who was not admitted can
    // read the error without sending the whole body first.
    if (!caller && request.headers.has('transfer-encoding')) response.headers.set('connection', 'close')
    incoming.ended?.()
  } finally {
    deadlineWatch.end()
  }
  if (caller?.limits) await tellLimits(deps, caller, caller.limits, response.headers)
  return incoming.recording ? incoming.recording.answered(response) : response
}

/** Returns the response to a failed call, after logging and counting the failure. */
export function refused(
  deps: RelayRouteDeps,
  incoming: Incoming,
  caller: CallerRow | undefined,
  error: unknown,
  dialect: DialectName,
): Response {
  const { request, requestId } = incoming
  const { events } = deps.relay
  if (isUnexpected(error)) events.warning(`${requestId}: ${describeFault(error)}`)
  const code = codeOf(error)
  events.callRefused({ code })
  const response = errorResponse(error, requestId, dialect, (status) => statusOfRefusal(request, status))
  noteFailed(deps, incoming, { caller, error, code, status: response.status })
  return response
}

/** Writes a log row for a failed call whose token is known. */
function noteFailed(
  { relay, failedCalls }: RelayRouteDeps,
  incoming: Incoming,
  { caller, error, code, status }: { caller: CallerRow | undefined; error: unknown; code: ErrorCode; status: number },
): void {
  if (!caller || !relay.settings().LogErrorsEnabled) return
  const { request, requestId, failed } = incoming
  const nowMs = relay.clock.nowMs()
  const { call, model = '', startedAtMs = nowMs } = failed ?? {}
  const endpoint = pathOf(request.url)
  failedCalls.note({ tokenId: caller.tokenId, code, beganAtMs: startedAtMs }, () =>
    failedRow(
      {
        requestId,
        caller,
        endpoint,
        error,
        code,
        status,
        call,
        described: call?.described ?? describeRequest(incoming),
        model,
        startedAtMs,
      },
      relay.routing(),
      nowMs,
    ),
  )
}

/** The path of an absolute URL. */
function pathOf(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3)
  const query = url.indexOf('?', from)
  return query < 0 ? url.slice(from) : url.slice(from, query)
}

async function tellLimits(deps: RelayRouteDeps, caller: Caller, limits: CallLimits, headers: Headers): Promise<void> {
  headers.append('access-control-expose-headers', limitHeaderNames.join(', '))
  if (!hasMinuteLimit(limits)) return
  const at = epochSeconds(deps.relay.clock)
  // The ledger sets `limits.minutes` when it takes quota for a call. A call that needs no quota, or that is refused
  // earlier, does not reach the ledger, so its counts are read here.
  limits.minutes ??= await currentMinutes(deps.store, caller, { token: limits.token, user: limits.user, at }).catch(
    () => undefined,
  )
  for (const [name, value] of Object.entries(limitHeaders(limits))) headers.set(name, value)
}

function isUnexpected(error: unknown): boolean {
  if (error instanceof GatewayError)
    return error.code === 'database_unavailable' || error.code === 'storage_unavailable'
  return !(error instanceof Error && error.cause instanceof GatewayError)
}

/** The gateway's own code for an error, whatever code the upstream used. */
function codeOf(error: unknown): ErrorCode {
  const known = error instanceof Error && !(error instanceof GatewayError) ? error.cause : error
  return known instanceof GatewayError ? known.code : 'internal_error'
}
