import { logType } from '../../../contract/log-types.ts'
import type { Hold } from '../../billing/ledger.ts'
import type { ToolCounter } from '../../dialects/metering/tool-counts.ts'
import { orUsual } from '../../dialects/wire/service-tier.ts'
import type { Outcome } from '../../events.ts'
import type { LogRow } from '../../store/schema/ledger-types.ts'
import { attemptsText, cutTo, longestName, noteAttempt } from '../call/attempts.ts'
import type { AnyCall, RelayCall } from '../call/call.ts'
import { storedDescription } from '../call/call-description.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Channel } from '../routing/routing-table.ts'
import { type Charge, type Charging, type Measure, nothing } from './charging-types.ts'

/** A call in progress: its hold, its price, and where it was sent. This object is the hold's only owner. */
export interface OpenCall<Call extends AnyCall = RelayCall> {
  call: Call
  hold: Hold
  charging: Charging
  channel: Channel
  /** The model name as sent upstream. The call is charged and logged under this name. */
  upstreamModel: string
  systemPromptReset: boolean
  /** Counts the calls of hosted tools (which the upstream runs); absent = no such tool is enabled. */
  tools?: ToolCounter
  /** Set if the caller's service tier was not passed on to the channel. The call then did not get that tier. */
  tierLost?: boolean
}

/** How a call ended, for its charge and its log row. */
export interface Ending {
  measure: Measure
  outcome: Outcome
  /** The error code if the call did not complete; '' otherwise. */
  code: string
  /** Milliseconds from the start to the first byte of the response; 0 = no byte arrived. */
  firstByteMs: number
  /** Further remarks for the log row. */
  note?: string
}

/** The cost of a call, calculated from its measure. */
export function chargeOf(open: OpenCall<AnyCall>, measure: Measure, charging = open.charging): Charge {
  const { tierLost, tools } = open
  const priced = tierLost ? atUsualTier(measure) : measure
  if (!tools) return charging.charge(priced)
  const { kinds = [], searchesAlways = false } = charging.tools ?? {}
  // If the response does not mention a search, the search is charged only if the model generated an answer.
  const hasSearched = searchesAlways && measure.usage.completionTokens > 0
  return charging.charge({ ...priced, tools: tools.counts(kinds, hasSearched) })
}

/**
 * The charge, and the operator's cost if the channel's prices are known. If a session used anything that has a separate
 * price, the cost is unknown.
 */
export function withCost(open: OpenCall<AnyCall>, measure: Measure): Charge {
  const charge = measure.isFree ? nothing : chargeOf(open, measure)
  const { cost } = open.charging
  const { lostCost = 0 } = open.call.state
  if (!cost || measure.beside || lostCost === null) return charge
  return { ...charge, cost: lostCost + (measure.isFree ? 0 : chargeOf(open, measure, cost).quota) }
}

/** Runs `work` and returns its result. If `work` fails, the hold is released before the error is thrown. */
export function orRelease<Result>(
  { hold }: Pick<OpenCall<AnyCall>, 'hold'>,
  work: () => Result | Promise<Result>,
): Result | Promise<Result> {
  const release = (error: unknown) => hold.release().then(() => Promise.reject<Result>(error))
  try {
    const result = work()
    return result instanceof Promise ? result.catch(release) : result
  } catch (error) {
    return release(error)
  }
}

/** The measure at the usual tier, unless the response names another tier. */
function atUsualTier(measure: Measure): Measure {
  return { ...measure, usage: { ...measure.usage, tier: orUsual(measure.usage.tier) } }
}

/** Charges the call, writes its log row and reports it. Resolves once the charge and the row are durable. */
export async function settle(deps: RelayDeps, open: OpenCall<AnyCall>, ending: Ending): Promise<void> {
  const { call, hold, channel } = open
  const settings = deps.settings()
  const charged = orRelease(open, () => withCost(open, ending.measure))
  const charge = charged instanceof Promise ? await charged : charged
  const elapsedMs = Math.round(deps.clock.nowMs() - call.startedAtMs)
  const log = settings.LogConsumeEnabled ? logRow(open, ending, charge, elapsedMs, deps) : undefined
  const quota = await hold.settle({
    charge: charge.quota,
    ...(charge.cost !== undefined && { cost: charge.cost }),
    tokens: charge.promptTokens + charge.completionTokens,
    channelId: channel.id,
    log,
    mayGoNegative: settings.QuotaPolicy === 'compat',
  })
  deps.events.callEnded({
    requestId: call.requestId,
    mode: call.mode,
    model: open.upstreamModel,
    channelId: channel.id,
    outcome: ending.outcome,
    code: ending.code,
    quota,
    uncovered: Math.max(0, charge.quota - quota),
    promptTokens: charge.promptTokens,
    completionTokens: charge.completionTokens,
    elapsedMs,
    firstByteMs: ending.firstByteMs,
    attempts: call.state.attempts.length,
    estimated: charge.estimated,
  })
}

function logRow(open: OpenCall<AnyCall>, ending: Ending, charge: Charge, elapsedMs: number, deps: RelayDeps): LogRow {
  const { call, channel } = open
  const { usage } = ending.measure
  return {
    user_id: call.caller.userId,
    created_at: Math.floor(deps.clock.nowMs() / 1000),
    type: logType.consume,
    content: content(open, ending, charge),
    username: call.caller.username,
    token_name: call.caller.tokenName,
    model_name: open.upstreamModel,
    asked_model: askedModel(open),
    prompt_tokens: charge.promptTokens,
    completion_tokens: charge.completionTokens,
    channel_id: channel.id,
    request_id: call.requestId,
    elapsed_time: elapsedMs,
    is_stream: call.facts.stream,
    system_prompt_reset: open.systemPromptReset,
    token_id: call.caller.tokenId,
    first_byte_time: Math.round(ending.firstByteMs),
    cached_tokens: usage.cachedTokens ?? 0,
    reasoning_tokens: usage.reasoningTokens ?? 0,
    cost: charge.cost ?? null,
    estimated: charge.estimated,
    outcome: ending.outcome,
    attempts: call.state.attempts.length > 1 || call.state.attempts[0]?.error ? attemptsText(call.state.attempts) : '',
    kept_place: call.state.isAtPlace ?? null,
    request: call.described === undefined ? null : storedDescription(call.described, call.state.upstreamDialect),
  }
}

/** The requested model, if it is not the one that answered. */
function askedModel({ call, upstreamModel }: OpenCall<AnyCall>): string {
  const model = call.plan?.name ?? call.facts.model
  return model === upstreamModel ? '' : cutTo(model, longestName)
}

function content(
  { call, charging: { sheet, groupRatio } }: OpenCall<AnyCall>,
  ending: Ending,
  { tierRatio, tools }: Charge,
): string {
  const { waitedMs, isPlayedBack } = call.state
  const group = Number(groupRatio) / 1e6
  const isFixed = call.step?.price !== undefined && sheet.model === call.plan?.name
  const parts = [
    isFixed ? `fixed price × ${group}` : `ratio: ${sheet.modelRatio} × ${sheet.completionRatio} × ${group}`,
  ]
  if (tierRatio !== undefined) parts.push(`service tier × ${Number(tierRatio) / 1e6}`)
  if (tools !== undefined) parts.push(`tools: ${tools}`)
  if (ending.code !== '') parts.push(`ended: ${ending.code}`)
  if (ending.note) parts.push(ending.note)
  if (isPlayedBack) parts.push('refused, and no other step could answer')
  if (waitedMs !== undefined) parts.push(`waited ${waitedMs} ms for capacity`)
  return parts.join('; ')
}

/** An upstream's response to an open call. The call was sent at `sentAtMs` on the deadline clock. */
export interface Answering {
  readonly deps: RelayDeps
  readonly open: OpenCall
  readonly response: Response
  readonly sentAtMs: number
}

/**
 * Makes the code that sends the response responsible for the hold. No other channel is tried after that, and the hold
 * is settled when the response ends, even if it fails.
 */
export function takeOver({ deps, open, response, sentAtMs }: Answering): void {
  // The response may be a model's refusal that was held back while other steps were tried. Its attempt has then been
  // noted already.
  if (!open.call.state.isPlayedBack) noteAttempt(deps, open, { sentAtMs, status: response.status })
  open.hold.handOver()
}
