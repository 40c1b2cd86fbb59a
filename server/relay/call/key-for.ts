import { type Channel, withKey } from '../routing/routing-table.ts'
import type { AnyCall } from './call.ts'
import type { RelayDeps } from './deps.ts'

/** The channel with the key that suits the call best. Skips keys that are paused for the model and keys in `except`. */
export function keyFor(
  { rests }: Pick<RelayDeps, 'rests'>,
  { session, facts }: Pick<AnyCall, 'session' | 'facts'>,
  channel: Channel,
  except?: ReadonlySet<string>,
): Channel {
  if (!channel.keyRing) return channel
  return withKey(channel, { session, except, isResting: (key) => rests.has(channel, key, facts.model) })
}
