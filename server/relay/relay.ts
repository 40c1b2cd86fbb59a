import { deliver } from './answer/deliver.ts'
import { beginAttempt, prepareTrial, sendTrial } from './attempts/send-trial.ts'
import { throughChannels, toFailure } from './attempts/through-channels.ts'
import type { Trial } from './attempts/trial.ts'
import { noteAttempt } from './call/attempts.ts'
import type { RelayCall } from './call/call.ts'
import type { RelayDeps } from './call/deps.ts'
import { CallerLeft } from './cancellation/caller-left.ts'
import { addLostCost } from './charging/lost-cost.ts'
import { measure } from './charging/measure.ts'
import { type OpenCall, settle } from './charging/settlement.ts'
import { noteHealth } from './failures/note-health.ts'
import { RefusedAnswer } from './failures/refused-answer.ts'
import { AttemptFailed } from './failures/retry-policy.ts'
import { reasonOf } from './failures/upstream-failure.ts'
import { ownHeaders } from './headers/relay-headers.ts'
import { noteSpeed } from './upstream/note-speed.ts'

/**
 * Serves one call: chooses a channel, prices the call, takes the quota, sends the request, delivers the response and
 * settles. If an attempt fails before the first byte of its response, the call is tried in another way, for example on
 * another channel. Throws GatewayError or AttemptFailed, in which case nothing has been charged.
 */
export function relay(deps: RelayDeps, call: RelayCall): Promise<Response> {
  return throughChannels(deps, call, attempt)
}

/** Makes one attempt at one endpoint of a channel: prepares and sends the request, and delivers the response. */
async function attempt(deps: RelayDeps, call: RelayCall, trial: Trial): Promise<Response | AttemptFailed> {
  const { channel, hold } = trial
  const made = beginAttempt(deps, call, trial)
  const { open, sentAtMs } = made
  try {
    const preparing = prepareTrial(deps, made, trial)
    const ready = preparing instanceof Promise ? await preparing : preparing
    const response = await sendTrial(deps, made, trial, ready)
    const headAtMs = deps.deadlineWatch.nowMs()
    const delivered = await deliver({ deps, open, response, sentAtMs }, ready.prepared)
    noteSpeed(deps, open, (call.facts.stream ? deps.deadlineWatch.nowMs() : headAtMs) - sentAtMs)
    return delivered
  } catch (error) {
    if (error instanceof CallerLeft && made.isSent) {
      noteAttempt(deps, open, { sentAtMs, status: 0, error: error.message })
      hold.handOver()
      return chargePrompt(deps, open)
    }
    const failed = error instanceof AttemptFailed ? error : toFailure(error)
    if (failed instanceof RefusedAnswer) await addLostCost(deps, open, failed.refusal.answer)
    noteAttempt(deps, open, { sentAtMs, status: failed.status, error: reasonOf(failed, channel.upstream.key) })
    return failed
  }
}

/**
 * Charges for the prompt if the caller disconnected while the upstream was working, because the upstream charges for a
 * prompt that it has read.
 */
async function chargePrompt(deps: RelayDeps, open: OpenCall): Promise<Response> {
  noteHealth(deps, open, 'undecided')
  const measurement = await measure(deps, open, { usage: undefined, output: () => '' })
  await settle(deps, open, { measure: measurement.measure, outcome: 'aborted', code: '', firstByteMs: 0 })
  // Nobody reads this response. 499 is the usual status for a caller who closed the request.
  return new Response(null, { status: 499, headers: ownHeaders(open.call) })
}
