import type { JsonObject } from '../../lib/json.ts'
import { messageOf } from '../neutral/failure.ts'
import type { Failure, FailureKind } from '../neutral/reply.ts'
import { codeOfKind, statusOfKind, typeOfKind } from './openai-failure.ts'

/** What is said where a service finds that a signature was not made now. */
export const clockHint =
  'the clock of this gateway may be wrong: the service says that the time of the signature is off'

/** A failure by what a service's own code says; `status` 200 or 0 = the usual one of its kind. */
export function serviceFailure(status: number, kind: FailureKind, message: string, code: string): Failure {
  return {
    status: status >= 400 ? status : statusOfKind[kind],
    kind,
    message: message || messageOf(undefined, status),
    type: typeOfKind[kind],
    ...(code && { code }),
  }
}

/** The answer of OpenAI's form that stands for a failure. */
export function failureAnswer({ status, kind, message, code }: Failure): JsonObject {
  return { error: { message, type: typeOfKind[kind], param: null, code: code ?? codeOfKind[kind], status } }
}
