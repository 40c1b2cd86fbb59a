import type { Hold } from '../../billing/ledger.ts'
import { GatewayError } from '../../errors.ts'
import { withoutKey } from '../../lib/secrets/without-key.ts'
import type { AnyCall, Attempt } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { continuedFrom } from '../call/thread-calls.ts'
import type { Charging } from '../charging/charging-types.ts'
import { noteKeyFailure, withOtherKey } from '../failures/key-failure.ts'
import { noteHealth } from '../failures/note-health.ts'
import { AttemptFailed, backOffMs, judgeFailure } from '../failures/retry-policy.ts'
import { forCaller } from '../failures/upstream-failure.ts'
import { type Channel, mappedModel } from '../routing/routing-table.ts'
import { nextPaid, nextPriced } from './next-channel.ts'
import { takeQuota } from './take-quota.ts'

/**
 * Runs a call with the given way of making an attempt. The choice of channels, keys and prices is the same for all
 * calls, and so is the hold, which belongs to the attempt once it is handed over. Throws like `relay`.
 */
export async function throughChannels<Call extends AnyCall>(
  deps: RelayDeps,
  call: Call,
  attempt: MakeAttempt<Call>,
): Promise<Response> {
  const settings = deps.settings()
  const tried = new Set<number>()
  const keysTried = new Set<string>()
  const first = nextPriced(deps, call, tried)
  if (first instanceof GatewayError) throw first
  let { channel, charging } = first
  let hold: Hold | undefined
  try {
    hold = await takeQuota(deps, call, first)
    call.isHeld = true
    for (let retries = 0; ; ) {
      tried.add(channel.id)
      keysTried.add(channel.upstream.key)
      const failed = await attempt(deps, call, { hold, charging, channel, attempts: call.attempts })
      if (failed instanceof Response) return failed
      const isKeysFault = noteFailure(deps, call, channel, failed)
      const mayChangeKey = isKeysFault && !call.signal.aborted && continuedFrom(call) === undefined
      const sibling = mayChangeKey ? withOtherKey(deps, channel, keysTried) : undefined
      if (sibling) {
        // The channel is the same, so this is neither a retry nor a new price.
        channel = sibling
        continue
      }
      const isUnsent = failed.verdict.unsent === true
      const mayRetry =
        failed.verdict.retry &&
        (isUnsent || retries < settings.RetryTimes) &&
        !call.caller.chosenChannel &&
        !call.signal.aborted
      const next = mayRetry ? await nextPaid(deps, call, hold, tried) : undefined
      if (!next) throw forCaller(failed)
      if (!isUnsent) await new Promise((resolve) => setTimeout(resolve, backOffMs(retries++, deps.random)))
      channel = next.channel
      keysTried.clear()
      charging = next.charging
    }
  } catch (error) {
    // Until the answer owns the hold, every way out releases the quota and ends a trial of the channel without a
    // verdict.
    if (!hold?.isHandedOver) {
      noteHealth(deps, { channel, call }, 'undecided')
      await hold?.release()
    }
    throw error
  }
}

/**
 * Makes one attempt at one channel: returns an answer for the caller, or why there is none. It does not own the hold
 * until it takes it over.
 */
export type MakeAttempt<Call extends AnyCall> = (
  deps: RelayDeps,
  call: Call,
  trial: Trial,
) => Promise<Response | AttemptFailed>

/** The inputs of an attempt. */
export interface Trial {
  hold: Hold
  charging: Charging
  channel: Channel
  attempts: Attempt[]
}

/** Turns a GatewayError into a failed attempt; throws any other error. */
export function toFailure(error: unknown): AttemptFailed {
  if (error instanceof GatewayError) return new AttemptFailed(error, judgeFailure(error), 0)
  throw error
}

/** Records a failure. True if only the channel's key is at fault, and the channel has others. */
function noteFailure(deps: RelayDeps, call: AnyCall, channel: Channel, failed: AttemptFailed): boolean {
  const model = call.facts.model
  // A caller who leaves says nothing about the channel's health, unless the channel could not be reached at all.
  if (call.signal.aborted && failed.error.code !== 'upstream_timeout') {
    noteHealth(deps, { channel, call }, 'undecided')
    return false
  }
  const isKeysFault = noteKeyFailure(deps, channel, failed)
  const isFaulty = failed.verdict.upstreamFault && !isKeysFault
  noteHealth(deps, { channel, call }, isFaulty ? 'faulty' : 'undecided', failed.error.message)
  // A failure that another channel might avoid counts against this one, even if no other was left.
  if (failed.verdict.retry && !failed.verdict.unsent) deps.channelFailures.note(channel.id, mappedModel(channel, model))
  // The channel asked for a pause: in the meantime other calls go elsewhere, if they can.
  const pauseSeconds = failed.error.retryAfterSeconds
  if (pauseSeconds && !isKeysFault)
    deps.breaker.rest(
      channel.id,
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
    // A network error may repeat the address or a header, and with it the key.
    cause: failed.error.cause instanceof Error ? withoutKey(failed.error.cause.message, channel.upstream.key) : '',
  })
  if (failed.verdict.disable !== undefined && !channel.keyRing && deps.settings().AutomaticDisableChannelEnabled) {
    // With the key that failed, so that a key that has replaced it in the meantime is not blamed.
    deps.disableChannel(channel.id, failed.verdict.disable, channel.upstream.key)
  }
  return isKeysFault
}
