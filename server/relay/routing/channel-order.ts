import type { ChannelOrder } from '../../../contract/channel-orders.ts'
import { hashNumber } from '../../lib/quick-hash.ts'
import type { Latencies } from './latencies.ts'
import type { Candidate, Channel } from './routing-table.ts'

/**
 * What a channel costs the operator for a model, in any unit that all channels share; undefined = not known.
 */
export type ChannelCost = (channel: Channel, model: string) => number | undefined

/** The properties of a call that determine the order of its channels. */
export interface Ordered {
  readonly model: string
  readonly isStream: boolean
  readonly session?: number | undefined
}

/** The sources from which the order is computed. */
export interface OrderDeps {
  readonly channelCost: ChannelCost
  readonly latencies: Latencies
  random(): number
}

/** Channels count as equally fast if their time is at most this multiple of the fastest one's. */
const similarSpeed = 1.2
/**
 * One in this many sessions, or calls without a session, is placed by weight alone, so that all channels are measured.
 */
const exploring = 20
const exploringSeed = 20

/**
 * Sorts channels of equal priority into groups, the best group first. The channels of a group count as equally good,
 * and a session stays on one of them.
 */
export function inOrder(
  order: ChannelOrder,
  level: readonly Candidate[],
  call: Ordered,
  deps: OrderDeps,
): readonly (readonly Candidate[])[] {
  if (order === 'weight' || level.length < 2) return [level]
  return order === 'cost' ? byCost(level, call, deps) : bySpeed(level, call, deps)
}

/** Cheapest first. Channels whose cost is not known come last. */
function byCost(level: readonly Candidate[], { model }: Ordered, { channelCost }: OrderDeps): Candidate[][] {
  const groups = Map.groupBy(level, ({ channel }) => channelCost(channel, model) ?? Number.POSITIVE_INFINITY)
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group)
}

/** The fastest channels, then all others. */
function bySpeed(
  level: readonly Candidate[],
  { model, isStream, session }: Ordered,
  { latencies, random }: OrderDeps,
): readonly (readonly Candidate[])[] {
  const explores =
    session === undefined ? random() * exploring < 1 : hashNumber(session, exploringSeed) % exploring === 0
  if (explores) return [level]
  const times = level.map(({ channel }) => latencies.median({ channelId: channel.id, model, isStream }))
  const fastest = Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY))
  if (fastest === Number.POSITIVE_INFINITY) return [level]
  const isFast = (index: number) => (times[index] ?? Number.POSITIVE_INFINITY) <= fastest * similarSpeed
  return [level.filter((_, index) => isFast(index)), level.filter((_, index) => !isFast(index))]
}
