import type { RelayDeps } from '../call/deps.ts'
import { type Channel, withKey } from '../routing/routing-table.ts'
import type { AttemptFailed } from './retry-policy.ts'

/** Most keys of one channel that one call tries. */
const keysPerCall = 5
/** A key is left alone for so long after a 429 that names no pause, or a refusal that may not last. */
const defaultPauseSeconds = 1

/**
 * Notes what a failure says about the key it was made with. True when it says nothing about the channel, since other
 * keys of it can be used.
 */
export function noteKeyFailure(deps: RelayDeps, channel: Channel, failed: AttemptFailed): boolean {
  const { keyRing, upstream } = channel
  const { disable: refusal, account } = failed.verdict
  if (!keyRing || (!account && failed.status !== 429)) return false
  const { AutomaticDisableChannelEnabled, RetryAfterLimit } = deps.settings()
  const nowMs = deps.clock.nowMs()
  if (refusal === undefined) {
    const pauseSeconds = Math.min(failed.error.retryAfterSeconds ?? defaultPauseSeconds, RetryAfterLimit)
    keyRing.rest(upstream.key, nowMs + pauseSeconds * 1000)
  } else if (keyRing.setAside(upstream.key) || AutomaticDisableChannelEnabled) {
    deps.disableChannel(channel.id, refusal, upstream.key)
  }
  return keyRing.hasOther(new Set([upstream.key]), nowMs)
}

/** The channel with a key that this call has not tried; undefined when there is none or enough were tried. */
export function withOtherKey(deps: RelayDeps, channel: Channel, keysTried: ReadonlySet<string>): Channel | undefined {
  const nowMs = deps.clock.nowMs()
  const isPossible = keysTried.size < keysPerCall && channel.keyRing?.hasOther(keysTried, nowMs)
  return isPossible ? withKey(channel, nowMs, keysTried) : undefined
}
