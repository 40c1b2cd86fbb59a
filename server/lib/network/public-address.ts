import ipaddr from 'ipaddr.js'
import { carriesAtEnd, isMetadataHost } from './metadata-address.ts'

/** The range of all IPv6 addresses that are assigned for use on the internet. */
const global = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * True for an address that anybody on the internet could reach. False for addresses of this machine, of private
 * networks, of a network provider's internal network, of a local link, and of a cloud's metadata service. Also false
 * for IPv6 addresses that contain another address (NAT64, 6to4, Teredo and others).
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || isMetadataHost(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || (parsed.match(global) && !carriesAtEnd(parsed))
}
