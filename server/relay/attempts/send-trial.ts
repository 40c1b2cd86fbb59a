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
  /** Time on the deadline clock. */
  readonly sentAtMs: number
  /** The request has been sent, so the upstream may charge for its prompt. */
  isSent: boolean
}

/** The request of an attempt, and the head of the response, whatever its status. */
interface Sent {
  prepared: Prepared
  response: Response
}

/** Begins an attempt. Nothing is sent yet. */
export function beginAttempt(deps: RelayDeps, call: RelayCall, { channel, charging, hold }: Trial): Attempt {
  const upstreamModel = mappedModel(channel, call.facts.model)
  const open: OpenCall = { call, hold, charging, channel, upstreamModel, systemPromptReset: false }
  if (charging.tools) open.tools = new ToolCounter()
  return { open, sentAtMs: deps.deadlineWatch.nowMs(), isSent: false }
}

/** Prepares the request of an attempt and sends it. Throws GatewayError, AttemptFailed and CallerLeft. */
export async function sendTrial(deps: RelayDeps, attempt: Attempt, trial: Trial): Promise<Sent> {
  const { open, sentAtMs } = attempt
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
  const preparing = prepareCall(deps, attempting)
  const prepared = preparing instanceof Promise ? await preparing : preparing
  open.systemPromptReset = prepared.systemPromptReset
  if (prepared.tierLost) open.tierLost = true
  if (prepared.begunWith !== undefined) trial.isPrefilled = true
  call.state.dropped = leftOutOf(prepared)
  attempt.isSent = true
  const recorded = call.recording && recordAttempt(call.recording, attempting, prepared)
  const patience = patienceFor(deps, open, sentAtMs, attempting.upstreamCall.stream)
  const sent = trial.isPrefilled ? continuing(attempting) : attempting
  const answer = await callUpstream(deps, sent, prepared, patience)
  return { prepared, response: recorded ? recorded(answer) : answer }
}

/** The same attempt, for a service that has a separate URL for continuing an incomplete turn. */
function continuing(attempting: Attempting): Attempting {
  return { ...attempting, upstreamCall: { ...attempting.upstreamCall, continues: true } }
}
