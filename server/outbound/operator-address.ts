import { isIP } from 'node:net'
import { isMetadataHost } from '../lib/network/metadata-address.ts'
import { type Resolve, systemResolve } from './metadata-guard.ts'

/**
 * Resolves and checks a host that an operator entered, and returns its IP address. The address may be in a private
 * network, but must not belong to a cloud's metadata service. The calling code must connect to exactly this address,
 * because the name could resolve to another address after the check. Throws an error whose message is a sentence.
 */
export async function operatorAddress(host: string, resolve: Resolve = systemResolve): Promise<string> {
  if (isMetadataHost(host)) throw new Error('The address must not be a cloud metadata service.')
  if (isIP(host) !== 0) return host
  const addresses = await resolve(host).catch(() => [])
  if (addresses.some(isMetadataHost)) throw new Error('The address must not be a cloud metadata service.')
  const [first] = addresses
  if (first === undefined) throw new Error(`The host ${host} is unknown.`)
  return first
}
