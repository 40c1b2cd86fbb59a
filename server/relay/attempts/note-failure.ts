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
  // A timeout does not count against the channel's health if the caller's own time limit has ended the attempt. Any
  // other failure does not count if the caller has disconnected.
  const isUnreached = failed.error.code === 'upstream_timeout'
  if (isUnreached ? isCallersLimit(deps, call) : call.leaving.hasLeft) {
    noteHealth(deps, { channel, call }, 'undecided')
    return false
  }
  const isKeysFault = noteKeyFailure(deps, call, channel, failed)
  const isFaulty = failed.verdict.upstreamFault && !isKeysFault
  noteHealth(deps, { channel, call }, isFaulty ? 'faulty' : 'undecided', failed.error.message)
  // A failure that another channel might avoid counts against this channel, even if there was no other channel.
  if (failed.verdict.retry && !failed.verdict.unsent) deps.channelFailures.note(channel.id, mappedModel(channel, model))
  // The upstream requested a pause (Retry-After). Until the pause ends, other calls use other channels if they can.
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
    // The message of a network error may quote the URL or a header, which may contain the key.
    cause: failed.error.cause instanceof Error ? withoutKey(failed.error.cause.message, channel.upstream.key) : '',
  })
  if (failed.verdict.disable !== undefined && !channel.keyRing && deps.settings().AutomaticDisableChannelEnabled) {
    // The failed key is passed on, so that the channel is not disabled if the key has been replaced in the meantime.
    deps.disableChannel(channel.id, failed.verdict.disable, channel.upstream.key)
  }
  return isKeysFault
}

/** True if the time limit that the caller set for the call has passed. */
function isCallersLimit({ deadlineWatch }: RelayDeps, { endsByMs }: AnyCall): boolean {
  return endsByMs !== undefined && deadlineWatch.nowMs() >= endsByMs
}
