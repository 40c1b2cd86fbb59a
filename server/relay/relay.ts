import { ToolCounter } from '../dialects/metering/tool-counts.ts'
import { deliver } from './answer/deliver.ts'
import { throughChannels, toFailure } from './attempts/through-channels.ts'
import type { Trial } from './attempts/trial.ts'
import { noteAttempt } from './call/attempts.ts'
import type { RelayCall } from './call/call.ts'
import type { RelayDeps } from './call/deps.ts'
import { CallerLeft } from './cancellation/caller-left.ts'
import { measure } from './charging/measure.ts'
import { type OpenCall, settle } from './charging/settlement.ts'
import { noteHealth } from './failures/note-health.ts'
import { AttemptFailed } from './failures/retry-policy.ts'
import { refusesUsage } from './failures/stream-usage-refused.ts'
import { reasonOf } from './failures/upstream-failure.ts'
import { ownHeaders } from './headers/relay-headers.ts'
import { mappedModel } from './routing/routing-table.ts'
import { callUpstream, endpointsOf, isChat, prepareCall, upstreamCallOf } from './upstream/call-endpoint.ts'
import { noteSpeed } from './upstream/note-speed.ts'
import { type Attempting, leftOutOf } from './upstream/prepare.ts'
import { recordAttempt } from './upstream/record-attempt.ts'
import { patienceFor } from './upstream/time-limits.ts'

/**
 * All steps of one call: choose a channel, price the call, take the quota, send, deliver, settle. If an attempt fails
 * before the first byte of its response, a remedy is tried. Throws GatewayError or AttemptFailed, in which case nothing
 * has been charged.
 */
export function relay(deps: RelayDeps, call: RelayCall): Promise<Response> {
  return throughChannels(deps, call, attempt)
}

/** One attempt at one endpoint of a channel: prepare, send, deliver. */
async function attempt(deps: RelayDeps, call: RelayCall, trial: Trial): Promise<Response | AttemptFailed> {
  const { channel, charging, hold, form } = trial
  const sentAtMs = deps.deadlineWatch.nowMs()
  const upstreamModel = mappedModel(channel, call.facts.model)
  const open: OpenCall = { call, hold, charging, channel, upstreamModel, systemPromptReset: false }
  if (charging.tools) open.tools = new ToolCounter()
  let isSent = false
  try {
    const endpoints = form.endpoint ? ([form.endpoint] as const) : endpointsOf(deps, call, channel, upstreamModel)
    trial.endpoints = endpoints
    const [endpoint] = endpoints
    if (isChat(endpoint)) call.state.upstreamDialect = endpoint.dialect.name
    const attempting: Attempting = {
      call,
      channel,
      endpoint,
      upstreamModel,
      upstreamCall: upstreamCallOf(call, endpoint, upstreamModel),
      capTokens: charging.affordable(hold.amount, call.state.promptGuess),
      withoutUsage:
        form.withoutUsage || (call.facts.stream && refusesUsage(deps.unsupportedFeatures, channel, upstreamModel)),
      withoutThoughts: form.withoutThoughts === true,
      ownSummary: form.ownSummary === true,
      lent: trial.lent,
    }
    const preparing = prepareCall(deps, attempting)
    const prepared = preparing instanceof Promise ? await preparing : preparing
    open.systemPromptReset = prepared.systemPromptReset
    if (prepared.tierLost) open.tierLost = true
    call.state.dropped = leftOutOf(prepared)
    isSent = true
    const recorded = call.recording && recordAttempt(call.recording, attempting, prepared)
    const patience = patienceFor(deps, open, sentAtMs, attempting.upstreamCall.stream)
    const answer = await callUpstream(deps, attempting, prepared, patience)
    const headAtMs = deps.deadlineWatch.nowMs()
    const response = recorded ? recorded(answer) : answer
    const delivered = await deliver({ deps, open, response, sentAtMs }, prepared)
    noteSpeed(deps, open, (call.facts.stream ? deps.deadlineWatch.nowMs() : headAtMs) - sentAtMs)
    return delivered
  } catch (error) {
    if (error instanceof CallerLeft && isSent) {
      noteAttempt(deps, open, { sentAtMs, status: 0, error: error.message })
      hold.handOver()
      return chargePrompt(deps, open)
    }
    const failed = error instanceof AttemptFailed ? error : toFailure(error)
    noteAttempt(deps, open, { sentAtMs, status: failed.status, error: reasonOf(failed, channel.upstream.key) })
    return failed
  }
}

/**
 * Charges for the prompt if the caller disconnected while the upstream was working, because the upstream charges for
 * the prompt that it has read.
 */
async function chargePrompt(deps: RelayDeps, open: OpenCall): Promise<Response> {
  noteHealth(deps, open, 'undecided')
  const measurement = await measure(deps, open, { usage: undefined, output: () => '' })
  await settle(deps, open, { measure: measurement.measure, outcome: 'aborted', code: '', firstByteMs: 0 })
  // Nobody reads this response. 499 is the usual status for a caller who closed the request.
  return new Response(null, { status: 499, headers: ownHeaders(open.call) })
}
