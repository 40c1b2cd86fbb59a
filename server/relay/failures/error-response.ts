import { callerDialects } from '../../dialects/caller-dialects.ts'
import { googleErrorEvents } from '../../dialects/gemini/failure.ts'
import type { DialectName } from '../../dialects/neutral/conversation.ts'
import { failureOf } from '../../dialects/neutral/failure.ts'
import type { Failure } from '../../dialects/neutral/reply.ts'
import { errorEvent, errorObject } from '../../dialects/openai-passthrough/errors.ts'
import { failedEvents } from '../../dialects/openai-responses/failed-events.ts'
import { type ErrorCode, GatewayError } from '../../errors.ts'
import { type JsonObject, tryParse, tryStringify } from '../../lib/json.ts'
import type { RelayCall } from '../call/call.ts'
import { ownHeaders } from '../headers/relay-headers.ts'
import { AttemptFailed } from './retry-policy.ts'

/**
 * An error response in the caller's dialect. `refusalStatus` maps the status of the gateway's own permanent refusals.
 */
export function errorResponse(
  error: unknown,
  requestId: string,
  dialect: DialectName = 'openai-chat',
  refusalStatus: (status: number) => number = (status) => status,
): Response {
  const known = knownOf(error)
  const attempt = error instanceof AttemptFailed ? error : undefined
  const headers: Record<string, string> = { ...ownHeaders({ requestId, dialect }), 'content-type': 'application/json' }
  if (known.retryAfterSeconds !== undefined) headers['retry-after'] = String(known.retryAfterSeconds)
  const lasts = isPermanent(known)
  const retry = attempt?.shouldRetry ?? (lasts ? 'false' : undefined)
  if (retry !== undefined) headers['x-should-retry'] = retry
  // The rest of the body is not read, so the connection is closed.
  if (known.code === 'request_timeout') headers['connection'] = 'close'
  const body = isOpenAi(dialect)
    ? openAiBody(known, attempt, requestId)
    : (sameDialect(attempt, dialect) ?? otherBody(known, attempt?.failure, requestId, dialect))
  return new Response(body, { status: lasts ? refusalStatus(known.status) : statusFor(known.status, dialect), headers })
}

function knownOf(error: unknown): GatewayError {
  const failure = error instanceof AttemptFailed ? error.error : error
  if (failure instanceof GatewayError) return failure
  return new GatewayError('internal_error', 'an internal error occurred', { cause: error })
}

/** The status for a client of the dialect. Only Anthropic uses 529, so clients of other dialects get 503. */
function statusFor(status: number, dialect: DialectName): number {
  return status === 529 && dialect !== 'anthropic-messages' ? 503 : status
}

/** Codes of the gateway's own refusals that are permanent although their status suggests that a retry may succeed. */
const lasting: ReadonlySet<ErrorCode> = new Set(['model_not_priced', 'api_not_implemented'])
const mayPass: ReadonlySet<number> = new Set([408, 409, 429])

/** True for a refusal by the gateway itself that would be the same however often the call is sent. */
function isPermanent({ code, status, type }: GatewayError): boolean {
  return lasting.has(code) || (type !== 'upstream_error' && status < 500 && !mayPass.has(status))
}

/**
 * The status for a permanent refusal. Codex retries a 401, 402 or 403 five times, even if a header forbids retries. It
 * shows a 400 to the user at once.
 */
export function statusOfRefusal(request: Request, status: number): number {
  return isCodex(request.headers) && (status === 401 || status === 402 || status === 403) ? 400 : status
}

function isCodex(headers: Headers): boolean {
  return /^codex/i.test(headers.get('originator') ?? headers.get('user-agent') ?? '')
}

/** An event that reports to the caller that its stream failed. */
export function errorEventFor(error: GatewayError, requestId: string, dialect: DialectName): string {
  if (dialect === 'openai-chat') return errorEvent(error, requestId)
  const failure = failureOf(error)
  const { encodeFailure } = callerDialects[dialect]
  if (dialect === 'openai-responses') {
    const { error: wireError } = encodeFailure(failure, requestId) as { error: JsonObject }
    // The event's own `type` overrides the error's `type`. The error is repeated in `error`, because OpenAI's SDK
    // throws only the content of that field.
    return `event: error\ndata: ${JSON.stringify({ ...wireError, type: 'error', sequence_number: 0, error: wireError })}\n\n`
  }
  const body = JSON.stringify(encodeFailure(failure, requestId))
  return dialect === 'gemini' ? googleErrorEvents(body) : `event: error\ndata: ${body}\n\n`
}

/**
 * The last events of a stream that has sent nothing but keep-alives. They are derived from the error response that the
 * caller would otherwise have received.
 */
export function lastEventsFor(error: unknown, body: string, call: Pick<RelayCall, 'requestId' | 'dialect' | 'facts'>) {
  const { requestId, dialect } = call
  if (dialect === 'openai-responses') {
    const failed = error instanceof AttemptFailed ? error : undefined
    const failure = failed?.failure ?? failureOf(knownOf(error))
    return failedEvents(failure, requestId, { model: call.facts.model }, 0)
  }
  // If a stream was requested, Google wraps its errors in a list of one element.
  const parsed = tryParse(body)
  const errorBody: unknown = Array.isArray(parsed) ? parsed[0] : parsed
  const data = tryStringify(errorBody) ?? JSON.stringify(body)
  if (dialect === 'gemini') return googleErrorEvents(data)
  return `${dialect === 'anthropic-messages' ? 'event: error\n' : ''}data: ${data}\n\n`
}

function isOpenAi(dialect: DialectName): boolean {
  return dialect === 'openai-chat' || dialect === 'openai-responses'
}

function openAiBody(known: GatewayError, attempt: AttemptFailed | undefined, requestId: string): string {
  const own = errorObject(known, requestId)
  const { failure, shaped } = attempt ?? {}
  // A client that expects OpenAI's errors does not know the error types and codes of another service.
  if (failure && failure.dialect !== 'openai-chat') return otherBody(known, failure, requestId, 'openai-chat')
  const wireError = shaped && { ...own, param: null, code: null, ...shaped, message: own.message }
  return (wireError && tryStringify({ error: wireError })) ?? JSON.stringify({ error: own })
}

/**
 * The upstream's error body, if it is in the caller's dialect. It is used unchanged, so that details that exist only in
 * that dialect are kept.
 */
function sameDialect(attempt: AttemptFailed | undefined, dialect: DialectName): string | undefined {
  return attempt?.raw && attempt.raw.dialect === dialect ? attempt.raw.text : undefined
}

function otherBody(known: GatewayError, failure: Failure | undefined, requestId: string, dialect: DialectName): string {
  const { retryAfterSeconds } = known
  const fullFailure = {
    ...(failure ?? { ...failureOf(known), message: known.message }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  }
  const status = statusFor(fullFailure.status, dialect)
  return JSON.stringify(callerDialects[dialect].encodeFailure({ ...fullFailure, status }, requestId))
}
