import type { CallLimits } from '../../billing/limits.ts'
import type { PriceSheet } from '../../billing/price.ts'
import { ToolCounter } from '../../dialects/metering/tool-counts.ts'
import type { RequestFacts } from '../../dialects/neutral/dialect.ts'
import type { HostedTool } from '../../dialects/wire/hosted-tools.ts'
import { partsOf } from '../../dialects/wire/service-tier.ts'
import { isObject } from '../../lib/json.ts'
import type { HeldJob } from '../../store/ledger/background-jobs.ts'
import type { CallState, RelayCall } from '../call/call.ts'
import type { Caller } from '../call/caller.ts'
import type { RelayDeps } from '../call/deps.ts'
import { Leaving } from '../cancellation/caller-left.ts'
import type { Charging } from '../charging/charging-types.ts'
import type { OpenCall } from '../charging/settlement.ts'
import { TokenCharging } from '../charging/token-charging.ts'
import { feesFor } from '../charging/tool-fees.ts'
import type { Channel } from '../routing/routing-table.ts'

/** The price of a call, as it was when the call began. */
interface StoredPrice {
  readonly sheet: PriceSheet
  readonly groupRatio: bigint
}

/**
 * The part of an open call that is stored with its job: everything that its charge and log row need, and nothing from
 * the prompt.
 */
interface StoredCall extends Pick<RelayCall, 'requestId' | 'path' | 'startedAtMs' | 'described'> {
  readonly caller: Omit<Caller, 'allowedModels' | 'limits' | 'chosenChannel'>
  readonly limits: Pick<CallLimits, 'token' | 'user'> | undefined
  readonly facts: Omit<RequestFacts, 'prompt'>
  readonly state: Pick<
    CallState,
    'promptGuess' | 'hasUnseenPrompt' | 'isAtPlace' | 'waitedMs' | 'upstreamDialect' | 'attempts'
  >
  /** The virtual model that was requested, and whether it has a price of its own. */
  readonly plan: { readonly name: string; readonly isFixed: boolean } | undefined
  readonly open: Pick<OpenCall, 'systemPromptReset' | 'tierLost'>
  readonly price: StoredPrice
  readonly cost: StoredPrice | undefined
  /** Multipliers of the tier and region that were requested. */
  readonly tiers: Readonly<Record<string, bigint | undefined>>
  readonly tools: readonly HostedTool[] | undefined
}

/** An open call as its job stores it. The body of the call must already have been dropped. */
export function storedCallOf(deps: RelayDeps, { call, channel, upstreamModel, charging, ...open }: OpenCall): string {
  const { allowedModels: _models, limits, chosenChannel: _channel, ...caller } = call.caller
  const { prompt: _prompt, ...facts } = call.facts
  const { promptGuess, hasUnseenPrompt, isAtPlace, waitedMs, upstreamDialect, attempts } = call.state
  const { tier, region } = facts.tier === undefined ? {} : partsOf(facts.tier)
  const tierNames = [tier, region].filter((name) => name !== undefined)
  const prices = deps.prices()
  const stored: StoredCall = {
    ...{ requestId: call.requestId, path: call.path, startedAtMs: call.startedAtMs },
    ...(call.described !== undefined && { described: call.described }),
    caller,
    limits: limits && { token: limits.token, user: limits.user },
    facts,
    state: {
      ...{ promptGuess, attempts },
      ...(hasUnseenPrompt !== undefined && { hasUnseenPrompt }),
      ...(isAtPlace !== undefined && { isAtPlace }),
      ...(waitedMs !== undefined && { waitedMs }),
      ...(upstreamDialect !== undefined && { upstreamDialect }),
    },
    plan: call.plan && { name: call.plan.name, isFixed: call.step?.price !== undefined },
    open: { systemPromptReset: open.systemPromptReset, ...(open.tierLost && { tierLost: true }) },
    price: priceOf(charging),
    cost: charging.cost && priceOf(charging.cost),
    tiers: Object.fromEntries(tierNames.map((name) => [name, prices.tierRatio(name, upstreamModel, channel.type)])),
    tools: charging.tools?.tools,
  }
  return JSON.stringify(stored, (_key, value: unknown) =>
    typeof value === 'bigint' ? { [bigintKey]: String(value) } : value,
  )
}

function priceOf({ sheet, groupRatio }: Charging): StoredPrice {
  return { sheet, groupRatio }
}

const bigintKey = '$bigint'

function parsed(text: string): StoredCall {
  return JSON.parse(text, (_key, value: unknown) =>
    isObject(value) && typeof value[bigintKey] === 'string' ? BigInt(value[bigintKey]) : value,
  ) as StoredCall
}

/**
 * The call of a job, ready to be charged by this process. It is charged at the price that was valid when it began.
 * There are two exceptions, which are charged at the current price: tools that the service ran, and a tier that the
 * service used although it was not requested.
 */
export function openedCall(deps: RelayDeps, job: HeldJob, channel: Channel): OpenCall {
  const stored = parsed(job.call)
  const { caller, facts, plan, limits, state, ...rest } = stored
  const { signal } = new AbortController()
  const step = plan && {
    ...{ model: facts.model, group: undefined, firstTokenTimeoutMs: undefined, next: new Map() },
    price: plan.isFixed ? {} : undefined,
  }
  const callLimits = limits && { token: limits.token, user: limits.user, minutes: undefined }
  const call: RelayCall = {
    ...{ requestId: rest.requestId, path: rest.path, startedAtMs: rest.startedAtMs },
    ...(rest.described !== undefined && { described: rest.described }),
    ...{ mode: 'chat', dialect: 'openai-responses', inBackground: true, headers: {}, arrivedAtMs: 0 },
    caller: { ...caller, allowedModels: undefined, chosenChannel: undefined, limits: callLimits },
    facts: { ...facts, maxTokens: facts.maxTokens, prompt: { texts: [], fixedTokens: state.promptGuess } },
    signal,
    leaving: new Leaving(signal),
    ...(plan && { plan: { name: plan.name, steps: [], streamRescue: undefined } }),
    ...(step && { step }),
    state: { ...state, body: { kind: 'json', text: '', json: {} }, conversation: undefined },
  }
  const { hold_id: id, user_id: userId, token_id: tokenId, amount, placed_on: placedOn, model } = job
  const charging: Charging = chargingOf(deps, call, { ...rest, model, channel }, rest.price)
  if (rest.cost) charging.cost = chargingOf(deps, call, { ...rest, model, channel }, rest.cost)
  return {
    ...{ call, charging, channel, upstreamModel: model, ...rest.open },
    hold: deps.ledger.adopt({ id, userId, tokenId, amount, placedOn, limits: callLimits }),
    ...(charging.tools && { tools: new ToolCounter() }),
  }
}

function chargingOf(
  deps: RelayDeps,
  call: RelayCall,
  { tiers, tools, model, channel }: Pick<StoredCall, 'tiers' | 'tools'> & { model: string; channel: Channel },
  { sheet, groupRatio }: StoredPrice,
): Charging {
  const prices = deps.prices()
  const ratioOf = (tier: string) => tiers[tier] ?? prices.tierRatio(tier, model, channel.type)
  const fees = tools && feesFor(tools, prices, model, channel.type)
  return new TokenCharging(call, sheet, groupRatio, model, 1, ratioOf, fees)
}
