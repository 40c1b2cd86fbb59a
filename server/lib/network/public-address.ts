import ipaddr from 'ipaddr.js'
import { carriesAtEnd, isMetadataHost } from './metadata-address.ts'

/** All IPv6 addresses that are assigned for use between networks. */
const global = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * True for an address that anybody on the internet could reach. Excluded are addresses of this machine, of a private or
 * a provider's own network, of a link, of a cloud's metadata service, and those that contain another address (NAT64,
 * 6to4, Teredo …).
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || isMetadataHost(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || (parsed.match(global) && !carriesAtEnd(parsed))
}
