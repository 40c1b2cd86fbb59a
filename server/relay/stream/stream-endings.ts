import { googleErrorEvents } from '../../dialects/gemini/failure.ts'
import type { DialectName } from '../../dialects/neutral/conversation.ts'
import type { StreamMeter } from '../../dialects/neutral/dialect.ts'
import { failureOf } from '../../dialects/neutral/failure.ts'
import { GatewayError } from '../../errors.ts'
import { sseData } from '../../lib/bytes/sse.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import { withoutKey } from '../../lib/secrets/without-key.ts'
import type { RelayCall } from '../call/call.ts'
import type { OpenCall } from '../charging/settlement.ts'
import { errorEventFor } from '../failures/error-response.ts'
import type { AttemptFailed } from '../failures/retry-policy.ts'
import { forCaller } from '../failures/upstream-failure.ts'
import type { ChargedUsage } from './settle-stream.ts'
import type { StreamReader } from './stream-reader.ts'

/** Error codes and texts for the caller when the upstream's response ends before it is complete. */
export const endings = {
  end: ['upstream_stream_incomplete', 'the upstream ended its response before it was complete'],
  broken: ['upstream_stream_error', 'the connection to the upstream was lost during its response'],
  stalled: ['upstream_timeout', 'the upstream stopped sending during its response'],
  cut: ['shutting_down', 'this server is shutting down; try again'],
  overdue: ['upstream_timeout', 'the upstream did not finish its response in time'],
} as const

/** The data after the last blank line of a stream; undefined = none. */
export function lastData(rest: string): string | undefined {
  const data = rest.trim() === '' ? undefined : sseData(rest)
  return data?.trim() === '' ? undefined : data
}

/** The error for a part that is not an event of its dialect. */
export function unreadablePart(): GatewayError {
  return new GatewayError('upstream_stream_error', 'the upstream sent a part of its response that cannot be read')
}

/**
 * The error for a part that could not be read: the upstream's fault if its JSON is nested too deeply, otherwise the
 * gateway's.
 */
export function faultIn(fault: unknown): GatewayError {
  if (fault instanceof RangeError) return unreadablePart()
  return new GatewayError('internal_error', 'the response ended because of an error in the gateway', { cause: fault })
}

/**
 * The last events of a stream that breaks off. For clients of the Responses API, they must continue the events that
 * were already sent.
 */
export function failedEnd(
  { requestId, dialect }: Pick<RelayCall, 'requestId' | 'dialect'>,
  reader: StreamReader,
  meter: StreamMeter,
  error: GatewayError,
  { usage }: ChargedUsage,
): string {
  const failure = failureOf(error)
  const isCharged = usage.promptTokens + usage.completionTokens > 0
  const own =
    dialect === 'openai-responses'
      ? (reader.failed?.(failure, isCharged ? usage : undefined) ?? meter.failedEnd?.(failure, requestId))
      : undefined
  return own || errorEventFor(error, requestId, dialect)
}

/**
 * Returns an error event of the upstream as it is sent to the caller. It has the form that the libraries of the
 * caller's dialect recognise, and does not contain the channel's key. Empty if the error is about the operator's
 * account.
 */
export function passedError(
  event: string,
  failed: AttemptFailed,
  { call, channel }: Pick<OpenCall, 'call' | 'channel'>,
): string {
  if (failed.verdict.account) return ''
  const body = call.dialect === 'gemini' ? tryParse(sseData(event) ?? '') : undefined
  // An event that the gateway translated already contains the error in both forms. It is not a single JSON object, so
  // it is sent unchanged.
  return withoutKey(isObject(body) ? googleErrorEvents(JSON.stringify(body)) : event, channel.upstream.key)
}

/**
 * The gateway's own error to send after an upstream's error event. If the error is about the operator's account, the
 * gateway's error replaces the upstream's event.
 */
export function ownErrorAfter(event: string, failed: AttemptFailed, dialect: DialectName): GatewayError | undefined {
  if (failed.verdict.account) return forCaller(failed).error
  return dialect === 'openai-chat' && !isKnownError(event) ? failed.error : undefined
}

/**
 * True for an event that OpenAI chat clients recognise as an error. They do not recognise an error without an `error`
 * object, or an error that is only a stop reason.
 */
function isKnownError(event: string): boolean {
  const data = tryParse(sseData(event) ?? '')
  return isObject(data) && (isObject(data['error']) || data['type'] === 'error')
}
