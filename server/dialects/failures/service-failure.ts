import type { JsonObject } from '../../lib/json.ts'
import { messageOf } from '../neutral/failure.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'
import { codeOfKind, statusOfKind, typeOfKind } from './openai-failure.ts'

/** The hint for the operator when a service rejects a signature because of its timestamp. */
export const clockHint =
  'the clock of this gateway may be wrong: the service says that the time of the signature is off'

/**
 * The failure for a service's own error code. If `status` is 200 or 0, the usual status for the kind of failure is
 * used.
 */
export function serviceFailure(status: number, kind: FailureKind, message: string, code: string): Failure {
  return {
    status: status >= 400 ? status : statusOfKind[kind],
    kind,
    message: message || messageOf(undefined, status),
    type: typeOfKind[kind],
    ...(code && { code }),
  }
}

/** A response in OpenAI's format for a failure. */
export function failureAnswer({ status, kind, message, code }: Failure): JsonObject {
  return { error: { message, type: typeOfKind[kind], param: null, code: code ?? codeOfKind[kind], status } }
}
