import { GatewayError } from '../../errors.ts'

/** The log text of an error: the cause for our own errors, the stack for any other. */
export function describeFault(error: unknown): string {
  if (error instanceof GatewayError) return `${error.message}: ${String(error.cause)}`
  if (error instanceof Error) return error.stack ?? error.message
  // An object without a prototype cannot be converted by `String`.
  return typeof error === 'object' ? Object.prototype.toString.call(error) : String(error)
}
