import { GatewayError } from '../errors.ts'

/** What the log says of a fault: of a foreseen one why it is, of any other where. */
export function describeFault(error: unknown): string {
  if (error instanceof GatewayError) return `${error.message}: ${String(error.cause)}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
