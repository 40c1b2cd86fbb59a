import { absoluteUrl } from './base-path.ts'
import { serverStatus } from './status.ts'

/** The base URL for programs, without a final slash: the configured one, or the one this page came from. */
export function serverAddress(): string {
  return (serverStatus().server_address || absoluteUrl('')).replace(/\/+$/, '')
}
