import { GatewayError } from '../../errors.ts'

/** What is said to a caller whose call comes while the process ends, or is still open at the end. */
export function shuttingDown(): GatewayError {
  return new GatewayError('shutting_down', 'this server is shutting down, try again', { retryAfterSeconds: 1 })
}
