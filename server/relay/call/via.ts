import { GatewayError } from '../../errors.ts'
import type { Channel } from '../routing/routing-table.ts'
import type { AnyCall } from './call.ts'
import type { RelayDeps } from './deps.ts'

/**
 * The header that lists the Tollgate installations that a call has passed through, so that a channel that leads back to
 * one of them is detected.
 */
export const viaHeader = 'x-tollgate-via'

/** The maximum number of installations that a call may pass through. Useful chains are much shorter. */
const longestChain = 20

/**
 * Refuses a call that has already passed through this installation, or that has passed through too many installations.
 * Throws GatewayError (loop_detected).
 */
export function refuseLoop(headers: Headers, installationId: string): void {
  const via = headers.get(viaHeader)
  if (via === null) return
  const passed = via.split(',').map((id) => id.trim())
  if (passed.includes(installationId))
    throw new GatewayError(
      'loop_detected',
      'this request has already passed through this gateway: a channel leads back to it',
    )
  if (passed.length > longestChain)
    throw new GatewayError(
      'loop_detected',
      `this request has passed through ${passed.length} gateways, more than the limit of ${longestChain}: correct the URLs of their channels`,
    )
}

/** The header for a channel with a custom base URL. */
export function viaFor(...of: Parameters<typeof viaOf>): Record<string, string> {
  const via = viaOf(...of)
  return via === undefined ? {} : { [viaHeader]: via }
}

/**
 * The value of the header for a channel with a custom base URL; undefined for a provider's default URL, which cannot
 * lead back to a gateway.
 */
export function viaOf(
  { installationId }: Pick<RelayDeps, 'installationId'>,
  { headers }: Pick<AnyCall, 'headers'>,
  { upstream, provider }: Channel,
): string | undefined {
  if (upstream.baseUrl === withoutSlashes(provider.meta.defaultBaseUrl)) return undefined
  const before = headers[viaHeader]
  return before === undefined ? installationId : `${before}, ${installationId}`
}

function withoutSlashes(url: string): string {
  return url.endsWith('/') ? url.replace(/\/+$/, '') : url
}
