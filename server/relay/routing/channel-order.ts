import type { ChannelOrder } from '../../../contract/channel-orders.ts'
import { hashNumber } from '../../lib/quick-hash.ts'
import type { Latencies } from './latencies.ts'
import type { Candidate, Channel } from './routing-table.ts'

/**
 * Returns what a call of the model costs the operator on the channel; undefined = not known. The unit must be the same
 * for all channels.
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

/** Channels count as equally fast if their median latency is at most this multiple of the lowest one. */
const similarSpeed = 1.2
/**
 * One in this many sessions, and one in this many calls without a session, chooses its channel only by weight, so that
 * the latency of all channels is measured.
 */
const exploring = 20
const exploringSeed = 20

/**
 * Sorts channels of equal priority into groups, the best group first. The channels of a group count as equally good. A
 * session always uses the same channel of a group.
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
