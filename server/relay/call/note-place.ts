import type { Channel } from '../routing/routing-table.ts'
import type { AnyCall } from './call.ts'

/**
 * Records whether a call is about to be sent to the place of its session, for its log row. `isFirst` is true if no
 * better channel was skipped.
 */
export function notePlace({ session, state }: AnyCall, { id, keyRing, upstream }: Channel, isFirst: boolean): void {
  if (session === undefined) return
  const isChannel = isFirst && state.attempts.every(({ channelId }) => channelId === id)
  state.isAtPlace = isChannel && (!keyRing || keyRing.placeOf(session) === upstream.key)
}
