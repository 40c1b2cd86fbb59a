import type { ChannelOrder } from '../../../contract/channel-orders.ts'
import type { CallMode } from '../../../contract/relay-modes.ts'
import type { Breaker } from './breaker.ts'
import { inOrder, type OrderDeps, type Ordered } from './channel-order.ts'
import { rankOf } from './rendezvous.ts'
import type { Rests } from './rests.ts'
import { type Candidate, type Channel, mappedModel } from './routing-table.ts'
import type { SessionRests } from './session-rests.ts'

/** The properties of a call that determine its channel. */
export interface Wanted extends Ordered {
  readonly mode: CallMode
  readonly requestId: string
  readonly order: ChannelOrder
}

/** The data for choosing a channel: its health, its cost and its speed, and random numbers. */
export interface SelectDeps extends OrderDeps {
  readonly breaker: Breaker
  readonly rests: Rests
  readonly sessionRests: SessionRests
}

/** The channel for the next attempt. */
export interface Selected {
  readonly channel: Channel
  /** False if a better channel that this call has not tried was skipped because of its health; otherwise true. */
  readonly isFirst: boolean
}

/**
 * Chooses the channel for the next attempt. Channels that this call has tried, or that do not serve this kind of call,
 * are excluded. The other channels are tried in order of priority. Among channels of equal priority, the best group by
 * cost or speed is first (`inOrder`). Within a group, the session of the call determines the channel. A call without a
 * session uses a random channel by weight.
 *
 * A channel is skipped if it is paused, if its breaker is open, or if it has just broken a stream of the session. If
 * all channels are skipped, the best of them is returned anyway, because rejecting the call would help nobody.
 */
export function selectChannel(
  wanted: Wanted,
  candidates: readonly Candidate[],
  tried: ReadonlySet<number>,
  deps: SelectDeps,
): Selected | undefined {
  const { mode, model, requestId, session } = wanted
  const { breaker, rests, sessionRests } = deps
  const isUsable = ({ channel }: Candidate) => !tried.has(channel.id) && serves(channel, mode, model)
  const [only] = candidates
  if (only && candidates.length === 1) {
    if (!isUsable(only)) return undefined
    // Called so that a half-open breaker records its trial. The result does not matter, because there is no other
    // channel to prefer.
    breaker.allows(only.channel.id, model, requestId)
    return { channel: only.channel, isFirst: true }
  }
  const usable = candidates.filter(isUsable)
  let isFirst = true
  /** The best healthy channel that was skipped because it has just broken a stream of the session. */
  let spare: Channel | undefined
  for (let from = 0; from < usable.length; ) {
    let to = from
    while (to < usable.length && usable[to]?.priority === usable[from]?.priority) to++
    for (const group of inOrder(wanted.order, usable.slice(from, to), wanted, deps)) {
      for (const channel of placesIn(group, wanted, deps)) {
        const isLeft = sessionRests.isResting(session, channel.id, model)
        if (isLeft && !rests.isResting(channel, model) && !breaker.isOpen(channel.id, model)) spare ??= channel
        else if (!isLeft && !rests.isResting(channel, model) && breaker.allows(channel.id, model, requestId))
          return { channel, isFirst }
        isFirst = false
      }
    }
    from = to
  }
  if (spare && breaker.allows(spare.id, model, requestId)) return { channel: spare, isFirst: false }
  return usable[0] && { channel: usable[0].channel, isFirst: false }
}

/**
 * The channel that the session of a call uses while all channels are healthy. Undefined if no channel serves the call.
 */
export function placeOfSession(
  wanted: Wanted,
  candidates: readonly Candidate[],
  skipped: ReadonlySet<number>,
  deps: SelectDeps,
): Channel | undefined {
  const usable = candidates.filter(
    ({ channel }) => !skipped.has(channel.id) && serves(channel, wanted.mode, wanted.model),
  )
  const level = usable.filter(({ priority }) => priority === usable[0]?.priority)
  const [best = []] = inOrder(wanted.order, level, wanted, deps)
  const [place] = placesIn(best, wanted, deps)
  return place
}

/** The channels of a group in the order in which the call would use them. */
function* placesIn(
  group: readonly Candidate[],
  { session }: Wanted,
  { random }: Pick<SelectDeps, 'random'>,
): Generator<Channel> {
  const rest = [...group]
  while (rest.length > 0) {
    const [picked] = rest.splice(session === undefined ? pickByWeight(rest, random) : pickForSession(rest, session), 1)
    if (picked) yield picked.channel
  }
}

/** True for a channel whose provider serves this kind of call. */
export function serves(channel: Channel, mode: CallMode, model: string): boolean {
  const { provider, upstream } = channel
  // The gateway's own WebSocket client does not support proxies, and it must not bypass the channel's proxy.
  if (mode === 'realtime') return provider.realtime !== undefined && !channel.carries?.proxy
  if (mode !== 'chat') return provider.modes[mode] !== undefined
  return provider.chat(upstream, mappedModel(channel, model)).length > 0
}

function pickByWeight(level: readonly Candidate[], random: () => number): number {
  if (level.length === 1) return 0
  let rest = random() * level.reduce((sum, { channel }) => sum + channel.weight, 0)
  const index = level.findIndex(({ channel }) => {
    rest -= channel.weight
    return rest < 0
  })
  return index < 0 ? level.length - 1 : index
}

/** The index of the candidate to which the session belongs. */
function pickForSession(level: readonly Candidate[], session: number): number {
  let best = 0
  let bestRank = Number.POSITIVE_INFINITY
  for (const [index, { channel }] of level.entries()) {
    const rank = rankOf(session, channel.id, channel.weight)
    if (rank >= bestRank) continue
    best = index
    bestRank = rank
  }
  return best
}
