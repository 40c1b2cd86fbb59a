import { isObject, type JsonObject, tryStringify } from '../../lib/json.ts'
import { googleWords } from '../failures/context-length.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseList, looseText } from '../neutral/fields.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'

/** Google's canonical codes, with the status and kind of each (google.rpc.Code). */
const codes: Readonly<Record<string, readonly [number, FailureKind]>> = {
  INVALID_ARGUMENT: [400, 'invalid'],
  FAILED_PRECONDITION: [400, 'invalid'],
  OUT_OF_RANGE: [400, 'invalid'],
  UNAUTHENTICATED: [401, 'authentication'],
  PERMISSION_DENIED: [403, 'permission'],
  NOT_FOUND: [404, 'not-found'],
  RESOURCE_EXHAUSTED: [429, 'rate-limit'],
  CANCELLED: [499, 'invalid'],
  INTERNAL: [500, 'server'],
  UNKNOWN: [500, 'server'],
  UNIMPLEMENTED: [501, 'server'],
  UNAVAILABLE: [503, 'overloaded'],
  DEADLINE_EXCEEDED: [504, 'timeout'],
}

const codeOfKind: Readonly<Record<FailureKind, string>> = {
  invalid: 'INVALID_ARGUMENT',
  authentication: 'UNAUTHENTICATED',
  billing: 'FAILED_PRECONDITION',
  permission: 'PERMISSION_DENIED',
  'not-found': 'NOT_FOUND',
  'too-large': 'INVALID_ARGUMENT',
  'context-length': 'INVALID_ARGUMENT',
  'rate-limit': 'RESOURCE_EXHAUSTED',
  quota: 'PERMISSION_DENIED',
  timeout: 'DEADLINE_EXCEEDED',
  overloaded: 'UNAVAILABLE',
  server: 'INTERNAL',
}

/** A Google error body, which streams and old endpoints wrap in a list. Status 0 means that the status is unknown. */
export function decodeFailure(status: number, body: unknown): Failure {
  const object: unknown = Array.isArray(body) ? body[0] : body
  const error = isObject(object) && isObject(object['error']) ? object['error'] : undefined
  const code = looseText(error?.['status'])
  const [meant, kind] = codes[code] ?? [status, kindOfStatus(status)]
  const retryAfterSeconds = retryAdvice(error?.['details'])
  // Google reports an unknown key as an invalid argument.
  const isKey = tryStringify(error?.['details'])?.includes('API_KEY_INVALID')
  return {
    status: status || meant || 502,
    kind: isKey ? 'authentication' : kind,
    message: messageOf(body, status),
    ...(code && { type: code, code }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    dialect: 'gemini',
  }
}

const retryInfo = 'type.googleapis.com/google.rpc.RetryInfo'

/** The retry delay, which Google sends in a detail of the error instead of a header: `"retryDelay": "35.2s"`. */
function retryAdvice(details: unknown): number | undefined {
  const info = looseList(details).find((each) => each['@type'] === retryInfo)
  const [, seconds] = /^(\d{1,9}(?:\.\d+)?)s?$/.exec(looseText(info?.['retryDelay'])) ?? []
  return seconds === undefined ? undefined : Math.ceil(Number(seconds))
}

/**
 * The end of a stream that failed, from the JSON of its error. The error is written twice: as the data of an event, which
 * every client can read, and as bare JSON, which is Google's own form. Some of Google's libraries find an error only in
 * that form and take the event for an empty response (js-genai `processStreamResponse` before 3.0, go-genai
 * `iterateResponseStream`).
 */
export function googleErrorEvents(body: string): string {
  return `data: ${body}\n\n${body}\n\n`
}

/** An error in the form that a Gemini caller expects. */
export function encodeFailure(failure: Failure, requestId: string): JsonObject {
  const { kind, retryAfterSeconds } = failure
  const message = kind === 'context-length' ? googleWords(failure) : failure.message
  const advice = retryAfterSeconds === undefined ? [] : [{ '@type': retryInfo, retryDelay: `${retryAfterSeconds}s` }]
  // Google's name for this status (google.rpc.Code, 12).
  const status = failure.status === 501 ? 'UNIMPLEMENTED' : codeOfKind[kind]
  return {
    error: {
      code: failure.status,
      message,
      status,
      details: [...advice, { '@type': 'type.googleapis.com/google.rpc.RequestInfo', requestId }],
    },
  }
}
