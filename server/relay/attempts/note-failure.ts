import { withoutKey } from '../../lib/secrets/without-key.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { noteKeyFailure } from '../failures/key-failure.ts'
import { noteHealth } from '../failures/note-health.ts'
import type { AttemptFailed } from '../failures/retry-policy.ts'
import { type Channel, mappedModel } from '../routing/routing-table.ts'

/**
 * Records a failed attempt against its channel. Returns true if only the channel's key is at fault and the channel has
 * other keys.
 */
export function noteFailure(deps: RelayDeps, call: AnyCall, channel: Channel, failed: AttemptFailed): boolean {
  const model = call.facts.model
  // A failure does not count against the channel's health if the caller disconnected, unless the channel could not be
  // reached at all. It does not count either if the caller's own time limit was shorter than the channel's.
  const isUnreached = failed.error.code === 'upstream_timeout'
  if (isUnreached ? isCallersLimit(deps, call) : call.leaving.hasLeft) {
    noteHealth(deps, { channel, call }, 'undecided')
    return false
  }
  const isKeysFault = noteKeyFailure(deps, call, channel, failed)
  const isFaulty = failed.verdict.upstreamFault && !isKeysFault
  noteHealth(deps, { channel, call }, isFaulty ? 'faulty' : 'undecided', failed.error.message)
  // A failure that might not occur on another channel counts against this channel, even if no other channel was left.
  if (failed.verdict.retry && !failed.verdict.unsent) deps.channelFailures.note(channel.id, mappedModel(channel, model))
  // The channel asked for a pause, so until the pause ends, other calls use other channels if they can.
  const pauseSeconds = failed.error.retryAfterSeconds
  if (pauseSeconds && !isKeysFault)
    deps.rests.begin(
      channel,
      model,
      Math.min(pauseSeconds, deps.settings().RetryAfterLimit) * 1000,
      failed.error.message,
    )
  deps.events.attemptFailed({
    requestId: call.requestId,
    channelId: channel.id,
    model,
    status: failed.status,
    reason: failed.error.code,
    // A network error may quote the URL or a header, and so contain the key.
    cause: failed.error.cause instanceof Error ? withoutKey(failed.error.cause.message, channel.upstream.key) : '',
  })
  if (failed.verdict.disable !== undefined && !channel.keyRing && deps.settings().AutomaticDisableChannelEnabled) {
    // The failed key is passed along, so that a key that has replaced it in the meantime is not blamed.
    deps.disableChannel(channel.id, failed.verdict.disable, channel.upstream.key)
  }
  return isKeysFault
}

/** True if the time that the caller allowed is over. */
function isCallersLimit({ deadlineWatch }: RelayDeps, { endsByMs }: AnyCall): boolean {
  return endsByMs !== undefined && deadlineWatch.nowMs() >= endsByMs
}
