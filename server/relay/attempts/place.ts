import type { PlaceRequest } from '../../billing/channel-place.ts'
import type { Hold } from '../../billing/ledger.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { isNewSession } from '../call/is-new-session.ts'
import type { Charging } from '../charging/charging-types.ts'
import { type Channel, mappedModel } from '../routing/routing-table.ts'

/** The maximum number of keys per channel that are searched for free capacity. */
const mostKeys = 32

/**
 * The place that a call requests on a channel with caps. A place reserves part of the capacity that the caps allow.
 * `keys` are the keys that the call accepts. Their order is the same as that of `parts` in the request.
 */
export interface PlaceWish {
  request: PlaceRequest
  keys: readonly string[]
}

/**
 * The place that a call needs on a channel. Undefined if the channel has no caps. If the channel's keys have caps, the
 * request also lists other keys, because the selected key may have no capacity left.
 */
export function placeFor(
  deps: RelayDeps,
  call: AnyCall,
  { channel, charging }: { channel: Channel; charging: Charging },
  { ticket, keysTried }: { ticket?: number | undefined; keysTried?: ReadonlySet<string> } = {},
): PlaceWish | undefined {
  if (channel.capped === 0) return undefined
  const { keyRing, keyParts, upstream } = channel
  const mayUseOthers = keyRing && keyParts && isNewSession(call)
  const isResting = (key: string) => deps.rests.has(channel, key, call.facts.model)
  const others = mayUseOthers ? keyRing.others(upstream.key, { except: keysTried, isResting }) : []
  const keys = [upstream.key, ...others].slice(0, mostKeys)
  const guess = call.state.promptGuess
  return {
    keys,
    request: {
      channelId: channel.id,
      model: mappedModel(channel, call.facts.model),
      parts: keyParts ? keys.map((key) => keyParts.get(key) ?? '') : [''],
      tokens: charging.reserved(guess),
      least: charging.least(guess),
      ...(ticket !== undefined && { ticket }),
    },
  }
}

/** The channel with the key whose capacity was reserved for the call. */
export function withPlace(channel: Channel, wish: PlaceWish, { part }: Hold): Channel {
  const key = wish.keys[part]
  if (key === undefined || key === channel.upstream.key) return channel
  return { ...channel, upstream: { ...channel.upstream, key } }
}
