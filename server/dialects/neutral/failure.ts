import type { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import type { Failure, FailureKind, StreamEvent } from './reply.ts'

/** The failure that an HTTP status alone indicates. */
export function kindOfStatus(status: number): FailureKind {
  switch (status) {
    case 401:
      return 'authentication'
    case 402:
      return 'billing'
    case 403:
      return 'permission'
    case 404:
      return 'not-found'
    case 408:
    case 504:
      return 'timeout'
    case 413:
      return 'too-large'
    case 429:
      return 'rate-limit'
    case 503:
    case 529:
      return 'overloaded'
    default:
      return status >= 400 && status < 500 ? 'invalid' : 'server'
  }
}

/** A failure of the gateway itself, for a caller of any dialect. */
export function failureOf(error: GatewayError): Failure {
  // Client programs look at both the status and the kind. With status 401 (token rejected), the kind is therefore never
  // `quota`.
  const isQuota = /quota|budget|exhausted/.test(error.code) && error.status !== 401
  return {
    status: error.status,
    kind: isQuota ? 'quota' : kindOfStatus(error.status),
    message: error.message,
    code: error.code,
    type: error.type,
    ...(error.param && { param: error.param }),
    ...(error.details && { details: error.details }),
  }
}

/** The message in an upstream's error, whatever field contains it. An HTML page is not passed on. */
export function messageOf(body: unknown, status: number): string {
  const object: unknown = Array.isArray(body) ? body[0] : body
  if (isObject(object)) {
    const error = object['error']
    const candidates = [isObject(error) ? error['message'] : error, object['message'], object['msg'], object['detail']]
    const message = candidates.find((value): value is string => typeof value === 'string' && value !== '')
    if (message !== undefined) return message
  }
  return status > 0 ? `bad response status code ${status}` : 'the upstream reported an error'
}

/** The failure for a stream that stops without a proper end. */
export const brokenOff: Failure = {
  status: 502,
  kind: 'server',
  message: 'the upstream ended its response before it was complete',
  code: 'upstream_stream_incomplete',
  type: 'upstream_error',
}

/** The failure for an event of a stream that could not be read. */
export const unreadable: Failure = {
  status: 502,
  kind: 'server',
  message: 'the upstream sent a part of its response that cannot be read',
  code: 'upstream_stream_error',
  type: 'upstream_error',
}

/**
 * The event that decoders return for an event that could not be read. `ForgivingDecoder` decides whether the answer can
 * continue.
 */
export const unreadableEvent: StreamEvent = { type: 'error', failure: unreadable }

/**
 * The failure for a call whose input arrived first in pieces and then as a whole, with different results. It is
 * impossible to know which version is correct.
 */
export const contradictory: Failure = {
  status: 502,
  kind: 'server',
  message: 'the upstream sent contradictory input for a tool call',
  code: 'upstream_stream_error',
  type: 'upstream_error',
}
