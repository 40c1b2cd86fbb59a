import { errorTable, GatewayError } from '../../errors.ts'
import type { Upgrade } from '../../lib/network/socket-session.ts'

/**
 * The function that upgrades the request to a WebSocket. Throws GatewayError (upgrade_required) if the request does not
 * ask for one, or if the server cannot upgrade.
 */
export function upgradeFor({ headers }: Request, upgrade: Upgrade | undefined): Upgrade {
  if (upgrade && headers.get('upgrade')?.toLowerCase() === 'websocket') return upgrade
  throw new GatewayError(
    'upgrade_required',
    'this endpoint accepts only WebSocket connections: connect with wss:// or ws://',
  )
}

/** Names the required protocol in a refusal (RFC 9110, section 15.5.22). */
export function nameUpgrade(response: Response): Response {
  if (response.status === errorTable.upgrade_required.status) response.headers.set('upgrade', 'websocket')
  return response
}
