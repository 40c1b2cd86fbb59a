import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { keyFor } from '../call/key-for.ts'
import type { Channel } from '../routing/routing-table.ts'
import type { AttemptFailed } from './retry-policy.ts'

/** The maximum number of keys of one channel that a single call tries. */
const keysPerCall = 5
/** How long a key is paused after a 429 that specifies no pause, or after a refusal that may be temporary. */
const defaultPauseSeconds = 1

/**
 * Records what a failure shows about the attempt's key. Returns true if the failure does not count against the channel,
 * because the channel has other usable keys.
 */
export function noteKeyFailure(deps: RelayDeps, call: AnyCall, channel: Channel, failed: AttemptFailed): boolean {
  const { keyRing, upstream } = channel
  const { disable: refusal, account } = failed.verdict
  if (!keyRing || (!account && failed.status !== 429)) return false
  const { AutomaticDisableChannelEnabled, RetryAfterLimit } = deps.settings()
  const { model } = call.facts
  if (refusal === undefined) {
    const pauseSeconds = Math.min(failed.error.retryAfterSeconds ?? defaultPauseSeconds, RetryAfterLimit)
    deps.rests.begin(channel, model, pauseSeconds * 1000)
  } else if (keyRing.setAside(upstream.key) || AutomaticDisableChannelEnabled) {
    deps.disableChannel(channel.id, refusal, upstream.key)
  }
  return keyRing.hasOther(new Set([upstream.key]), (key) => deps.rests.has(channel, key, model))
}

/**
 * The channel with a key that this call has not tried. Undefined if there is none or if the call has tried the maximum
 * number of keys.
 */
export function withOtherKey(
  deps: RelayDeps,
  call: AnyCall,
  channel: Channel,
  keysTried: ReadonlySet<string>,
): Channel | undefined {
  const isResting = (key: string) => deps.rests.has(channel, key, call.facts.model)
  const isPossible = keysTried.size < keysPerCall && channel.keyRing?.hasOther(keysTried, isResting)
  return isPossible ? keyFor(deps, call, channel, keysTried) : undefined
}
