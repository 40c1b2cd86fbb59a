import { contextCode, isAnthropics, readContext } from '../../dialects/failures/context-length.ts'
import { flatError } from '../../dialects/failures/flat-error.ts'
import { decodeFailure } from '../../dialects/failures/openai-failure.ts'
import type { StreamMeter, UpstreamDialect } from '../../dialects/neutral/dialect.ts'
import type { Failure } from '../../dialects/neutral/reply.ts'
import { readErrorBody } from '../../dialects/openai-passthrough/errors.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, tryParse, tryStringify } from '../../lib/json.ts'
import { messageOf } from '../../lib/message-of.ts'
import { withoutKey } from '../../lib/secrets/without-key.ts'
import { AttemptFailed, judgeFailure, judgeStatus, retryAfterSeconds } from './retry-policy.ts'

/**
 * The failure for an error that the gateway itself raised, about the upstream's response or because no response
 * arrived.
 */
export function failedAttempt(error: GatewayError, status: number): AttemptFailed {
  return new AttemptFailed(error, judgeFailure(error), status)
}

/** The failure for something that is not a valid response. */
export function badBody(message: string, status: number): AttemptFailed {
  return failedAttempt(new GatewayError('bad_response_body', message), status)
}

/**
 * The same failure as from `badBody`, for a response whose body is not read. The body is cancelled so that the upstream
 * stops generating.
 */
export async function unread(response: Response, message: string): Promise<AttemptFailed> {
  await response.body?.cancel().catch(() => undefined)
  return badBody(message, response.status)
}

/**
 * Runs code that converts a response. Throws AttemptFailed if the response's JSON is nested too deeply to be parsed or
 * serialised.
 */
export function madeOf<T>(make: () => T, status: number): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(status) : error
  }
}

function tooDeep(status: number): AttemptFailed {
  return badBody("the upstream's response is nested too deeply", status)
}

/**
 * The failure for a response with an error status. `dialect` is the upstream's dialect, if the upstream serves
 * conversations.
 */
export function statusFailure(
  response: Response,
  body: string,
  key: string,
  nowMs: number,
  dialect?: UpstreamDialect,
): AttemptFailed {
  const text = withoutKey(body, key)
  const parsed = tryParse(text)
  const decoded = dialect?.decodeFailure(response.status, parsed)
  const { message, shaped } = readErrorBody(text, response.status)
  const errorMessage = shaped || !decoded ? message : decoded.message
  // Redirects are not followed, and the status of a redirect means nothing to the caller.
  const passed = response.status >= 400 && response.status <= 599 ? response.status : 502
  const failure = meaning(decoded, shaped, errorMessage, response.status)
  const status = failure?.kind === 'context-length' ? failure.status : passed
  const wait = retryAfterSeconds(response.headers.get('retry-after'), nowMs) ?? failure?.retryAfterSeconds
  const error = new GatewayError('bad_response_status_code', errorMessage, {
    status,
    param: String(response.status),
    ...(wait !== undefined && { retryAfterSeconds: Math.ceil(wait) }),
  })
  const verdict = judgeStatus(response.status, shaped ?? wordsOf(failure), errorMessage, failure?.kind)
  const isError = isObject(parsed) || Array.isArray(parsed)
  return new AttemptFailed(error, verdict, response.status, {
    shaped: shapedFor(shaped, failure),
    ...(failure && { failure: { ...failure, status } }),
    ...(dialect &&
      isError &&
      saysSo(dialect.name, failure, response.status) && { raw: { dialect: dialect.name, text } }),
    text,
    shouldRetry: response.headers.get('x-should-retry') ?? undefined,
    plain: isError ? undefined : plainWords(response, text, key),
  })
}

/** The maximum length, in characters, of the text that is kept of an error page. */
const longestPage = 500

/**
 * The text of an error that is not JSON, or the target of a redirect. A redirect usually means that the URL is wrong.
 */
function plainWords(response: Response, text: string, key: string): string | undefined {
  const location = response.headers.get('location')
  if (location !== null) return `redirected to ${withoutKey(location, key)}`
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, longestPage) || undefined
}

/** Why an attempt failed, for the administrators' log: the message of the upstream or of the network error. */
export function reasonOf({ plain, error }: AttemptFailed, key: string): string {
  if (plain !== undefined) return `${error.message}: ${plain}`
  const { cause } = error
  // A network error may quote the URL or a header, and so contain the key.
  return cause instanceof Error && !(cause instanceof GatewayError)
    ? `${error.message}: ${withoutKey(messageOf(cause), key)}`
    : error.message
}

/**
 * The neutral (dialect-independent) form of an error, as decoded from its dialect. If its text reports that the context
 * is too long, the neutral form is derived from the text.
 */
function meaning(
  failure: Failure | undefined,
  shaped: JsonObject | undefined,
  message: string,
  status: number,
): Failure | undefined {
  const decoded = failure ?? decodeFailure(status, shaped ?? { message })
  const read = readContext(decoded)
  return read.kind === 'context-length' ? read : failure
}

/** The upstream's error object, unless it reports in the service's own format that the context is too long. */
function shapedFor(shaped: JsonObject | undefined, failure: Failure | undefined): JsonObject | undefined {
  return failure?.kind === 'context-length' && shaped?.['code'] !== contextCode ? undefined : shaped
}

/** True if clients of the upstream's dialect understand the error unchanged. */
function saysSo(dialect: string, failure: Failure | undefined, status: number): boolean {
  if (failure?.kind !== 'context-length') return true
  return status === 400 && (dialect === 'anthropic-messages' ? isAnthropics(failure.message) : dialect === 'gemini')
}

/** An error, in neutral form, that arrived in a response with status 200. */
export function failureWithin(decoded: Failure, status: number, key: string): AttemptFailed {
  const failure = readContext({ ...decoded, message: withoutKey(decoded.message, key) })
  const { message } = failure
  const error = new GatewayError('bad_response_status_code', message, {
    status: failure.status,
    param: String(status),
  })
  const verdict = judgeStatus(failure.status, wordsOf(failure), message, failure.kind)
  return new AttemptFailed(error, verdict, status, { failure })
}

/** The error that a stream with status 200 reported as an event. */
export function failureInStream(meter: StreamMeter, status: number, key: string): AttemptFailed {
  return meter.failure ? failureWithin(meter.failure, status, key) : errorWithin(meter.error ?? {}, status, key)
}

/**
 * The error in a response with status 200, if it is an error. Some services send an `error` field with every response.
 */
export function failureInAnswer(from: UpstreamDialect, body: JsonObject): Failure | undefined {
  const isFailed = isObject(body['error']) && !Array.isArray(body['choices'])
  return from.failureWithin?.(body) ?? (isFailed ? from.decodeFailure(0, body) : undefined)
}

/**
 * The failure for a response with status 200 that is neither a valid response nor an error in its dialect. Some
 * gateways report errors in a format of their own.
 */
export function noAnswer(body: JsonObject, status: number, key: string): AttemptFailed {
  const error = flatError(body)
  if (error) return failureWithin(decodeFailure(0, error), status, key)
  return badBody("the upstream's response contains no answer", status)
}

function wordsOf(failure: Failure | undefined): JsonObject | undefined {
  return failure && { type: failure.type, code: failure.code }
}

/**
 * The failure for an error that arrived with status 200. If the error itself contains a status, that status is used.
 */
export function errorWithin(raw: JsonObject, status: number, key: string): AttemptFailed {
  const text = tryStringify(raw)
  if (text === undefined) return tooDeep(status)
  const error = JSON.parse(withoutKey(text, key)) as JsonObject
  const code = error['status'] ?? error['code']
  const named = typeof code === 'number' || typeof code === 'string' ? Number(code) : Number.NaN
  const meant = Number.isInteger(named) && named >= 400 && named <= 599 ? named : 502
  const message =
    typeof error['message'] === 'string' && error['message'] !== ''
      ? error['message']
      : 'the upstream responded with an error'
  const failure = meaning(undefined, error, message, named >= 400 ? meant : 0)
  const errorStatus = failure?.status ?? meant
  const known = new GatewayError('bad_response_status_code', message, { status: errorStatus, param: String(status) })
  return new AttemptFailed(known, judgeStatus(errorStatus, error, message, failure?.kind), status, {
    shaped: shapedFor(error, failure),
    ...(failure && { failure }),
  })
}

/**
 * The failure as the caller sees it. An error about the upstream account is replaced, because it concerns only the
 * operator. Otherwise, the caller would think that its own key was wrong.
 */
export function forCaller(failed: AttemptFailed): AttemptFailed {
  if (!failed.verdict.account) return failed
  const error = new GatewayError(
    'upstream_unavailable',
    'the service behind this gateway is currently unavailable; its operator has to fix this',
    { cause: failed.error },
  )
  return new AttemptFailed(error, failed.verdict, failed.status)
}
