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
 * Runs a call that makes its attempts in a way of its own: the same choice of channels, keys and prices, and the same
 * hold, which is an attempt's own once it was handed over. Throws like `relay`.
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
        // Not another channel, so neither a retry nor another price.
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
    // Until the answer has taken the hold over, every way out gives the quota back, and the channel a trial without a verdict.
    if (!hold?.isHandedOver) {
      noteHealth(deps, { channel, call }, 'undecided')
      await hold?.release()
    }
    throw error
  }
}

/** One attempt at one channel: an answer for the caller, or why there is none. Until it hands over, the hold is not its own. */
export type MakeAttempt<Call extends AnyCall> = (
  deps: RelayDeps,
  call: Call,
  trial: Trial,
) => Promise<Response | AttemptFailed>

/** What an attempt is made with. */
export interface Trial {
  hold: Hold
  charging: Charging
  channel: Channel
  attempts: Attempt[]
}

/** An error of the gateway as the end of an attempt; every other is thrown on. */
export function toFailure(error: unknown): AttemptFailed {
  if (error instanceof GatewayError) return new AttemptFailed(error, judgeFailure(error), 0)
  throw error
}

/** True when the fault is of the channel's key alone, and the channel has others. */
function noteFailure(deps: RelayDeps, call: AnyCall, channel: Channel, failed: AttemptFailed): boolean {
  const model = call.facts.model
  // Who left tells nothing of the channel, unless that could not even be reached.
  if (call.signal.aborted && failed.error.code !== 'upstream_timeout') {
    noteHealth(deps, { channel, call }, 'undecided')
    return false
  }
  const isKeysFault = noteKeyFailure(deps, channel, failed)
  const isFaulty = failed.verdict.upstreamFault && !isKeysFault
  noteHealth(deps, { channel, call }, isFaulty ? 'faulty' : 'undecided', failed.error.message)
  // What another channel may do better speaks against this one, even where no other was left.
  if (failed.verdict.retry && !failed.verdict.unsent) deps.channelFailures.note(channel.id, mappedModel(channel, model))
  // The channel asked for a pause: other calls go elsewhere meanwhile, as far as there is an elsewhere.
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
    // What the network says may repeat the address or a header, and with it the key.
    cause: failed.error.cause instanceof Error ? withoutKey(failed.error.cause.message, channel.upstream.key) : '',
  })
  if (failed.verdict.disable !== undefined && !channel.keyRing && deps.settings().AutomaticDisableChannelEnabled) {
    // With the key that failed, so that one put in its place meanwhile is not blamed.
    deps.disableChannel(channel.id, failed.verdict.disable, channel.upstream.key)
  }
  return isKeysFault
}
