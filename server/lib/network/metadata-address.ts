import ipaddr from 'ipaddr.js'

/** Names and addresses of the services from which machines in a cloud get credentials. */
const names = ['metadata', 'metadata.google.internal', 'metadata.goog', 'instance-data', 'instance-data.ec2.internal']
const networks = [
  '169.254.0.0/16',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fe80::/10',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
].map((text) => ipaddr.parseCIDR(text))

/** IPv6 prefixes whose addresses contain an IPv4 address, and the positions of its four bytes. */
const carriers: [network: [ipaddr.IPv6, number], offsets: readonly [number, number, number, number], mask?: number][] =
  [
    // NAT64: the common prefix, and local prefixes with the IPv4 address at the end, or split around the reserved byte
    // (RFC 6052).
    [ipaddr.IPv6.parseCIDR('64:ff9b::/96'), [12, 13, 14, 15]],
    [ipaddr.IPv6.parseCIDR('64:ff9b:1::/48'), [12, 13, 14, 15]],
    [ipaddr.IPv6.parseCIDR('64:ff9b:1::/48'), [6, 7, 9, 10]],
    [ipaddr.IPv6.parseCIDR('64:ff9b:1::/48'), [7, 9, 10, 11]],
    [ipaddr.IPv6.parseCIDR('64:ff9b:1::/48'), [9, 10, 11, 12]],
    // 6to4, SIIT (RFC 2765), and Teredo, which contains the server's address and, with inverted bits, the client's
    // address (RFC 4380).
    [ipaddr.IPv6.parseCIDR('2002::/16'), [2, 3, 4, 5]],
    [ipaddr.IPv6.parseCIDR('::ffff:0:0:0/96'), [12, 13, 14, 15]],
    [ipaddr.IPv6.parseCIDR('2001::/32'), [4, 5, 6, 7]],
    [ipaddr.IPv6.parseCIDR('2001::/32'), [12, 13, 14, 15], 0xff],
    [ipaddr.IPv6.parseCIDR('::/96'), [12, 13, 14, 15]],
  ]

/** True if a URL's host is a cloud's metadata service, in any notation. */
export function isMetadataHost(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
  if (names.includes(host)) return true
  if (!ipaddr.isValid(host)) return false
  const address = ipaddr.process(host)
  return [address, ...embedded(address)].some((each) =>
    networks.some(([base, bits]) => base.kind() === each.kind() && each.match([base, bits] as [ipaddr.IPv4, number])),
  )
}

/** The IPv4 addresses to which a router or this machine may translate an IPv6 address. */
function embedded(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4[] {
  if (!(address instanceof ipaddr.IPv6)) return []
  const bytes = address.toByteArray()
  const addresses = carriers
    .filter(([network]) => address.match(network))
    .map(([, offsets, mask = 0]) => new ipaddr.IPv4(offsets.map((at) => (bytes[at] ?? 0) ^ mask)))
  return carriesAtEnd(address) ? [...addresses, new ipaddr.IPv4(bytes.slice(12))] : addresses
}

/** True if the last half of an IPv6 address is derived from an IPv4 address (ISATAP, RFC 5214), whatever the prefix. */
export function carriesAtEnd(address: ipaddr.IPv6): boolean {
  const [, , , , first = 0, second = 0] = address.parts
  return (first & 0xfdff) === 0 && second === 0x5efe
}
