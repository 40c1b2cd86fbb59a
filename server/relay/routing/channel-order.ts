import type { ChannelOrder } from '../../../contract/channel-orders.ts'
import { hashNumber } from '../../lib/quick-hash.ts'
import type { Latencies } from './latencies.ts'
import type { Candidate, Channel } from './routing-table.ts'

/**
 * What a channel costs the operator for a model, in any unit that all channels share; undefined = not known.
 */
export type ChannelCost = (channel: Channel, model: string) => number | undefined

/** What decides the order of the channels for a call. */
export interface Ordered {
  readonly model: string
  readonly isStream: boolean
  readonly session?: number | undefined
}

/** What the order is made from. */
export interface OrderDeps {
  readonly channelCost: ChannelCost
  readonly latencies: Latencies
  random(): number
}

/** Channels that are slower than the fastest by no more than this count as equally fast. */
const similarSpeed = 1.2
/** One in this many sessions, and calls without one, is placed by weight alone, so that all channels are measured. */
const exploring = 20
const exploringSeed = 20

/**
 * Channels of equal priority in groups, the best group first. Channels of one group are equally good, so that a session
 * stays on one of them.
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
