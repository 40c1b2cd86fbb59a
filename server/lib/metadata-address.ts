import ipaddr from 'ipaddr.js'

/** Names and addresses under which clouds hand credentials to the machines that run in them. */
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

/** IPv6 prefixes that carry an IPv4 address, and at which of the eight groups it starts. */
const carriers: [network: [ipaddr.IPv6, number], group: number][] = [
  [ipaddr.IPv6.parseCIDR('64:ff9b::/96'), 6],
  [ipaddr.IPv6.parseCIDR('2002::/16'), 1],
  [ipaddr.IPv6.parseCIDR('::/96'), 6],
]

/** True when a URL's host is a cloud's metadata service, however it is written. */
export function isMetadataHost(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
  if (names.includes(host)) return true
  if (!ipaddr.isValid(host)) return false
  const address = embedded(ipaddr.process(host))
  return networks.some(
    ([base, bits]) => base.kind() === address.kind() && address.match([base, bits] as [ipaddr.IPv4, number]),
  )
}

function embedded(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!(address instanceof ipaddr.IPv6)) return address
  const carrier = carriers.find(([network]) => address.match(network))
  if (!carrier) return address
  const bytes = address.toByteArray().slice(carrier[1] * 2, carrier[1] * 2 + 4)
  return new ipaddr.IPv4(bytes)
}
