import { ApiFailure } from '../../http/api-failure.ts'
import { parseNetwork } from '../../lib/network/ip-network.ts'
import { splitList } from '../../lib/split-list.ts'

/**
 * The CIDRs of a subnet field, normalised. A plain address becomes a network with one address. An empty field becomes
 * null.
 */
export function parseSubnet(text: string | null): string | null {
  const parts = splitList(text ?? '')
  return parts.length === 0 ? null : parts.map(networkOf).join(',')
}

function networkOf(part: string): string {
  if (!parseNetwork(part)) throw new ApiFailure(`subnet has "${part}", which is not a network such as 192.168.0.0/24.`)
  if (part.includes('/')) return part
  return `${part}/${part.includes(':') ? 128 : 32}`
}

/** The model names of a models field, normalised. An empty field becomes null, which means all models. */
export function parseModels(text: string | null): string | null {
  const models = splitList(text ?? '')
  return models.length === 0 ? null : models.join(',')
}

/** When a token expires. 0 and null also mean never, and become -1. */
export function parseExpiry(seconds: number | null | undefined): number {
  return seconds || -1
}
