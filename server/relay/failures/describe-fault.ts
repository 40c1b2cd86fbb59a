import { GatewayError } from '../../errors.ts'

/** What the log says of a fault: of a foreseen one why it is, of any other where. */
export function describeFault(error: unknown): string {
  if (error instanceof GatewayError) return `${error.message}: ${String(error.cause)}`
  if (error instanceof Error) return error.stack ?? error.message
  // Of an object without a prototype no text can be made.
  return typeof error === 'object' ? Object.prototype.toString.call(error) : String(error)
}
