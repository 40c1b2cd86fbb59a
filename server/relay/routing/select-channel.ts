import type { CallMode } from '../../../contract/relay-modes.ts'
import type { Breaker } from './breaker.ts'
import { type Candidate, type Channel, mappedModel } from './routing-table.ts'

/**
 * Picks the channel for the next attempt: highest priority first, then by weight. Channels that this call has tried, or
 * that do not serve this kind of call, are excluded. Channels whose breaker is open are skipped while another channel
 * is left. If all are open, the best of them is tried anyway, because refusing the call would help nobody.
 */
export function selectChannel(
  { mode, model, requestId }: { mode: CallMode; model: string; requestId: string },
  candidates: readonly Candidate[],
  tried: ReadonlySet<number>,
  breaker: Breaker,
  random: () => number,
): Channel | undefined {
  const isUsable = ({ channel }: Candidate) => !tried.has(channel.id) && serves(channel, mode, model)
  const [only] = candidates
  if (only && candidates.length === 1) {
    if (!isUsable(only)) return undefined
    // Called so that a half-open breaker records its trial. The result does not matter, because there is no other
    // channel to prefer.
    breaker.allows(only.channel.id, model, requestId)
    return only.channel
  }
  const usable = candidates.filter(isUsable)
  for (let from = 0; from < usable.length; ) {
    let to = from
    while (to < usable.length && usable[to]?.priority === usable[from]?.priority) to++
    const level = usable.slice(from, to)
    while (level.length > 0) {
      const index = pickByWeight(level, random)
      const [picked] = level.splice(index, 1)
      if (picked && breaker.allows(picked.channel.id, model, requestId)) return picked.channel
    }
    from = to
  }
  return usable[0]?.channel
}

/** True for a channel whose provider serves this kind of call. */
export function serves(channel: Channel, mode: CallMode, model: string): boolean {
  const { provider, upstream } = channel
  // A session is a WebSocket of our own, which does not know proxies and must not go around one.
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
