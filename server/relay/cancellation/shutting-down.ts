import { GatewayError } from '../../errors.ts'

/** The error for a call that arrives while the process shuts down, or that is still open when the process ends. */
export function shuttingDown(): GatewayError {
  return new GatewayError('shutting_down', 'this server is shutting down; try again', { retryAfterSeconds: 1 })
}
