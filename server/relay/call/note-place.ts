import type { Channel } from '../routing/routing-table.ts'
import type { AnyCall } from './call.ts'

/**
 * Records, for the log row of a call, whether the call will be sent to the channel and key of its session. `isFirst` is
 * true if no better channel was skipped.
 */
export function notePlace({ session, state }: AnyCall, { id, keyRing, upstream }: Channel, isFirst: boolean): void {
  if (session === undefined) return
  const isChannel = isFirst && state.attempts.every(({ channelId }) => channelId === id)
  state.isAtPlace = isChannel && (!keyRing || keyRing.placeOf(session) === upstream.key)
}
