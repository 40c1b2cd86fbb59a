import { isObject } from '../../lib/json.ts'
import { clockHint } from '../failures/service-failure.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseText } from '../neutral/fields.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'

/**
 * Exceptions of the Bedrock runtime, with the HTTP status that each has outside a stream (Bedrock API reference,
 * "ConverseStream").
 */
const exceptions: Readonly<Record<string, readonly [number, FailureKind]>> = {
  validation: [400, 'invalid'],
  accessdenied: [403, 'permission'],
  unrecognizedclient: [403, 'authentication'],
  invalidsignature: [403, 'authentication'],
  expiredtoken: [403, 'authentication'],
  resourcenotfound: [404, 'not-found'],
  modeltimeout: [408, 'timeout'],
  modelerror: [424, 'server'],
  modelstreamerror: [424, 'server'],
  throttling: [429, 'rate-limit'],
  modelnotready: [429, 'overloaded'],
  servicequotaexceeded: [400, 'rate-limit'],
  serviceunavailable: [503, 'overloaded'],
  internalserver: [500, 'server'],
}

const skewed = /signature (?:expired|not yet current)|is now (?:earlier|later) than/i
const unknownKey = /security token|signature|api key|bearer token|access key/i

/** An AWS error body with a message and a type. The type may also be in a header instead of the body. */
export function decodeFailure(status: number, body: unknown): Failure {
  const object = isObject(body) ? body : {}
  const type = looseText(object['__type']).replace(/^.*#/, '')
  const text = looseText(object['Message']) || messageOf(body, status)
  return failureOf(type, text, status)
}

/** An exception within a stream, identified by its name in the stream. */
export function streamFailure(name: string, body: unknown): Failure {
  return failureOf(name, messageOf(body, 0), 0)
}

function failureOf(type: string, text: string, status: number): Failure {
  const [meant, kind] = exceptions[type.toLowerCase().replace(/(?:exception|error)$/, '')] ?? [
    status,
    kindOf(status, text),
  ]
  const isSkewed = skewed.test(text)
  return {
    status: status || meant || 500,
    kind: isSkewed ? 'authentication' : kind,
    message: isSkewed ? `${clockHint} (${text})` : text,
    ...(type && { type, code: type }),
  }
}

function kindOf(status: number, text: string): FailureKind {
  if (status === 403 && unknownKey.test(text)) return 'authentication'
  return status === 424 ? 'server' : kindOfStatus(status)
}
