import { isObject } from '../../lib/json.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'

/** A Cohere error body. It contains only a message, so the kind is derived from the status. */
export function decodeFailure(status: number, body: unknown): Failure {
  return { status: status || 502, kind: kindOf(status), message: messageOf(body, status) }
}

function kindOf(status: number): FailureKind {
  // "Invalid token" (Cohere docs, "Errors").
  if (status === 498) return 'authentication'
  return status === 499 ? 'timeout' : kindOfStatus(status)
}

/** The reason why an answer was cut off, from its last event. */
export function endFailure(reason: string, delta: unknown): Failure {
  const message = isObject(delta) && typeof delta['error'] === 'string' ? delta['error'] : ''
  const isTimeout = reason === 'TIMEOUT'
  return {
    status: isTimeout ? 504 : 502,
    kind: isTimeout ? 'timeout' : 'server',
    message: message || `the upstream ended its response early (${reason})`,
    code: reason,
  }
}
