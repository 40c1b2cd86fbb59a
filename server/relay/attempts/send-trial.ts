import { ToolCounter } from '../../dialects/metering/tool-counts.ts'
import type { RelayCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { OpenCall } from '../charging/settlement.ts'
import { refusesUsage } from '../failures/stream-usage-refused.ts'
import { mappedModel } from '../routing/routing-table.ts'
import { callUpstream, endpointsOf, isChat, prepareCall, upstreamCallOf } from '../upstream/call-endpoint.ts'
import { type Attempting, leftOutOf, type Prepared } from '../upstream/prepare.ts'
import { recordAttempt } from '../upstream/record-attempt.ts'
import { patienceFor } from '../upstream/time-limits.ts'
import type { Trial } from './trial.ts'

/** An attempt that is being made. */
export interface Attempt {
  readonly open: OpenCall
  /** When the attempt began, in milliseconds on the deadline clock. */
  readonly sentAtMs: number
  /** The request has been sent, so the upstream may charge for its prompt. */
  isSent: boolean
}

/** An attempt whose request can be sent. */
export interface Ready {
  readonly attempting: Attempting
  readonly prepared: Prepared
}

/** Begins an attempt. Nothing is sent yet. */
export function beginAttempt(deps: RelayDeps, call: RelayCall, { channel, charging, hold }: Trial): Attempt {
  const upstreamModel = mappedModel(channel, call.facts.model)
  const open: OpenCall = { call, hold, charging, channel, upstreamModel, systemPromptReset: false }
  if (charging.tools) open.tools = new ToolCounter()
  return { open, sentAtMs: deps.deadlineWatch.nowMs(), isSent: false }
}

/**
 * Prepares the request of an attempt, synchronously if possible. Throws GatewayError and AttemptFailed, possibly
 * synchronously.
 */
export function prepareTrial(deps: RelayDeps, { open }: Attempt, trial: Trial): Ready | Promise<Ready> {
  const { call, channel, upstreamModel } = open
  const { charging, hold, form } = trial
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
    withoutPrefill: form.withoutPrefill === true,
    ownSummary: form.ownSummary === true,
    lent: trial.lent,
  }
  const prepared = prepareCall(deps, attempting)
  return prepared instanceof Promise
    ? prepared.then((each) => ({ attempting, prepared: each }))
    : { attempting, prepared }
}

/**
 * Sends a prepared request. Resolves with the head of the response, whatever its status. Throws GatewayError (possibly
 * synchronously) and CallerLeft.
 */
export function sendTrial(
  deps: RelayDeps,
  attempt: Attempt,
  trial: Trial,
  { attempting, prepared }: Ready,
): Promise<Response> {
  const { open, sentAtMs } = attempt
  const { call } = open
  open.systemPromptReset = prepared.systemPromptReset
  if (prepared.tierLost) open.tierLost = true
  if (prepared.begunWith !== undefined) trial.isPrefilled = true
  call.state.dropped = leftOutOf(prepared)
  attempt.isSent = true
  const recorded = call.recording && recordAttempt(call.recording, attempting, prepared)
  const patience = patienceFor(deps, open, sentAtMs, attempting.upstreamCall.stream)
  const sent = trial.isPrefilled ? continuing(attempting) : attempting
  const answer = callUpstream(deps, sent, prepared, patience)
  return recorded ? answer.then(recorded) : answer
}

/** The same attempt, for a service that has a separate URL for continuing an incomplete turn. */
function continuing(attempting: Attempting): Attempting {
  return { ...attempting, upstreamCall: { ...attempting.upstreamCall, continues: true } }
}
