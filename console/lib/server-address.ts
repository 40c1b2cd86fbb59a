import { absoluteUrl } from './base-path.ts'
import { serverStatus } from './status.ts'

/**
 * The base URL for API clients, without a trailing slash: the configured address, or the address from which this page
 * was loaded.
 */
export function serverAddress(): string {
  return (serverStatus().server_address || absoluteUrl('')).replace(/\/+$/, '')
}
