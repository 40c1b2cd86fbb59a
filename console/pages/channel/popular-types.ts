import type { ChannelTypeEntry } from '../../../contract/api/channel.ts'

/** The numbers of the most common channel types, most popular first. */
const popular: readonly number[] = [1, 14, 24, 3, 33, 42, 20, 36, 45, 28, 29, 17, 50, 8]

const rankOf = (type: number) => (popular.includes(type) ? popular.indexOf(type) : popular.length)

/** Sorts the popular types first. The others keep the order of the catalogue. */
export function popularFirst(types: readonly ChannelTypeEntry[]): ChannelTypeEntry[] {
  return [...types].sort((a, b) => rankOf(a.type) - rankOf(b.type))
}
