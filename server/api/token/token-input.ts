import ipaddr from 'ipaddr.js'
import { ApiFailure } from '../../http/api-failure.ts'
import { splitList } from '../../lib/split-list.ts'

/** The CIDRs of a subnet field in one form; a plain address becomes the network of itself. Nothing = null. */
export function parseSubnet(text: string | null): string | null {
  const parts = splitList(text ?? '')
  return parts.length === 0 ? null : parts.map(parseNetwork).join(',')
}

function parseNetwork(part: string): string {
  if (ipaddr.isValidCIDR(part)) return part
  // Shortened forms such as "10.1" are addresses to some programs, and not what people mean.
  if (ipaddr.IPv4.isValidFourPartDecimal(part)) return `${part}/32`
  if (ipaddr.IPv6.isValid(part)) return `${part}/128`
  throw new ApiFailure(`subnet has "${part}", which is not a network such as 192.168.0.0/24.`)
}

/** The model names of a models field in one form. Nothing = null: all models. */
export function parseModels(text: string | null): string | null {
  const models = splitList(text ?? '')
  return models.length === 0 ? null : models.join(',')
}

/** When a token ends: -1 for never, which 0 and nothing mean too. */
export function parseExpiry(seconds: number | null | undefined): number {
  return seconds || -1
}
