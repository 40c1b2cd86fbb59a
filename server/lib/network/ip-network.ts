import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A network: all addresses whose first `bits` bits are the same as those of `base`. */
export interface Network {
  readonly base: Address
  readonly bits: number
}

/**
 * Parses an address or a CIDR in its full form. Undefined for any other text. Short and octal forms are not accepted,
 * because some programs read them differently from people. For example, inet_aton reads 172.16/12 as 172.0.0.16/12.
 * IPv4 within IPv6 (::ffff:10.0.0.0/104) is treated as IPv4.
 */
export function parseNetwork(text: string): Network | undefined {
  const [, address = '', length] = /^([^/]+?)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  if (!isWhole(address)) return undefined
  const base = ipaddr.parse(address)
  const all = base.kind() === 'ipv4' ? 32 : 128
  const bits = length === undefined ? all : Number(length)
  if (bits > all) return undefined
  const mapped = base as ipaddr.IPv6
  if (all === 128 && bits >= 96 && mapped.isIPv4MappedAddress())
    return { base: mapped.toIPv4Address(), bits: bits - 96 }
  return { base, bits }
}

/**
 * Parses an address from a socket or a header. An IPv4-mapped IPv6 address is treated as IPv4, because a dual-stack
 * socket reports an IPv4 caller in this form.
 */
export function parseAddress(text: string): Address | undefined {
  return isWhole(text) ? ipaddr.process(text) : undefined
}

function isWhole(address: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
}

/** True if a network contains an address. An address of one IP version is never in a network of the other. */
export function isWithin(address: Address, { base, bits }: Network): boolean {
  return address.kind() === base.kind() && (address as ipaddr.IPv4).match(base as ipaddr.IPv4, bits)
}
