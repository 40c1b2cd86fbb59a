import type { Hold, HoldRequest } from '../../billing/ledger.ts'
import { GatewayError } from '../../errors.ts'
import type { CrashRow } from '../../store/schema/ledger-types.ts'
import { servingGroup } from '../call/at-step.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { isNewSession } from '../call/is-new-session.ts'
import { keyFor } from '../call/key-for.ts'
import { notePlace } from '../call/note-place.ts'
import { orderFor } from '../call/order-for.ts'
import { keeperOf, threadKeeper } from '../call/thread-calls.ts'
import { chargingFor } from '../charging/charging.ts'
import { chargingAfter } from '../charging/charging-after.ts'
import type { Charging } from '../charging/charging-types.ts'
import { noteHealth } from '../failures/note-health.ts'
import { type Candidate, type Channel, mappedModel, type RoutingTable } from '../routing/routing-table.ts'
import { selectChannel } from '../routing/select-channel.ts'
import { ceilingOf } from './dearest.ts'
import { noChannel } from './no-channel.ts'
import type { PlaceWish } from './place.ts'

/**
 * The next channel on which the call has a price, or the error that explains why there is none. A channel may have no
 * price for the call, or may map the model name to a model that cannot do what is requested. Such a channel is skipped
 * and added to `tried`. Throws GatewayError if every channel would refuse the call.
 */
export function nextPriced(deps: RelayDeps, call: AnyCall, tried: Set<number>): PricedChannel | GatewayError {
  let why: GatewayError | undefined
  for (;;) {
    const channel = nextChannel(deps, call, tried)
    if (!channel) return why ?? noChannel(call, deps.routing().candidates(servingGroup(call), call.facts.model))
    try {
      return { channel, charging: priced(deps, call, channel) }
    } catch (error) {
      noteHealth(deps, { channel, call }, 'undecided')
      if (!isOfChannel(error, call, channel)) throw error
      // The error for a missing price, which only the operator can fix, is replaced by the error of any other channel.
      if (!why || why.code === 'model_not_priced') why = error
      tried.add(channel.id)
    }
  }
}

/** True for an error that depends on the channel, so that it might not occur on another one. */
function isOfChannel(error: unknown, { caller, facts }: AnyCall, channel: Channel): error is GatewayError {
  if (!(error instanceof GatewayError) || caller.chosenChannel) return false
  const isUnpriced = error.code === 'model_not_priced' || error.code === 'tier_not_priced'
  return isUnpriced || mappedModel(channel, facts.model) !== facts.model
}

function nextChannel(deps: RelayDeps, call: AnyCall, tried: ReadonlySet<number>): Channel | undefined {
  const { mode, requestId, session, facts } = call
  const { chosenChannel } = call.caller
  const { model } = call.facts
  const group = servingGroup(call)
  const keeper = threadKeeper(deps, call)
  const routing = deps.routing()
  const candidates = isNewSession(call) ? openTo(call, routing) : routing.allCandidates(group, model)
  if (keeper) return keeperOf(chosenChannel ? [{ channel: chosenChannel }] : candidates, keeper, tried)
  const selected = chosenChannel
    ? { channel: chosenChannel, isFirst: true }
    : selectChannel(
        { mode, model, requestId, session, isStream: facts.stream, order: orderFor(deps, call) },
        candidates,
        tried,
        deps,
      )
  if (!selected) return undefined
  const channel = keyFor(deps, call, selected.channel)
  notePlace(call, channel, selected.isFirst)
  return channel
}

/**
 * The channels that accept new sessions and, if the call's session may stay at a drained channel (one that accepts no
 * new sessions), that channel.
 */
function openTo(call: AnyCall, routing: RoutingTable): readonly Candidate[] {
  const { staysAt } = call.state
  const open = routing.candidates(servingGroup(call), call.facts.model)
  if (staysAt === undefined) return open
  const ids = new Set(open.map(({ channel }) => channel.id)).add(staysAt)
  return routing.allCandidates(servingGroup(call), call.facts.model).filter(({ channel }) => ids.has(channel.id))
}

function priced(deps: RelayDeps, call: AnyCall, channel: Channel): Charging {
  const model = mappedModel(channel, call.facts.model)
  const charging = chargingFor({
    call,
    prices: deps.prices(),
    model,
    channel,
    sliceTokens: deps.settings().PreConsumedQuota,
  })
  return call.goesOn ? chargingAfter(charging, call.goesOn) : charging
}

/** A channel, and the price of the call on that channel. */
export interface PricedChannel {
  channel: Channel
  charging: Charging
}

/**
 * Takes a hold for a quick estimate of the tokens. The tokens are counted exactly only if the quota does not cover the
 * estimate.
 */
export async function takeQuota(
  deps: RelayDeps,
  call: AnyCall,
  { channel, charging }: PricedChannel,
  wish?: PlaceWish,
): Promise<Hold> {
  const { caller } = call
  const guess = call.state.promptGuess
  const ceiling = ceilingOf(deps, call, charging)
  const amount = ceiling(guess)
  const request: HoldRequest = {
    userId: caller.userId,
    tokenId: caller.tokenId,
    limits: caller.limits,
    amount,
    least: amount,
    tokens: charging.reserved(guess),
    crashCharge: charging.least(guess),
    crashRow: crashRowOf(call, channel),
    modelName: call.facts.model,
    requestId: call.requestId,
  }
  if (wish) request.place = wish.request
  const hold = await deps.ledger.tryHold(request)
  if (hold) return hold
  const exact = await countPrompt(deps, call)
  const least = charging.least(exact)
  return deps.ledger.hold({
    ...request,
    amount: ceiling(exact),
    least,
    tokens: charging.reserved(exact),
    crashCharge: least,
    crashRow: crashRowOf(call, channel),
    ...(wish && { place: { ...wish.request, least, tokens: charging.reserved(exact) } }),
    signal: call.signal,
  })
}

/**
 * The usage that is logged if the process crashes during the call: the prompt and, for a chat or completion, one
 * completion token per choice. For a continued stream, the usage of its earlier part is added. The charge after a crash
 * is the minimum charge, which is for the same usage.
 */
export function crashRowOf(call: AnyCall, channel: Channel): CrashRow {
  const isGenerating = call.mode === 'chat' || call.mode === 'completions'
  const before = call.goesOn?.usage
  return {
    channelId: channel.id,
    promptTokens: call.state.promptGuess + (before?.promptTokens ?? 0),
    completionTokens: (isGenerating ? call.facts.choices : 0) + (before?.completionTokens ?? 0),
  }
}

/** Counts the tokens of the prompt and replaces the quick estimate with the count. */
export async function countPrompt(deps: RelayDeps, call: AnyCall): Promise<number> {
  const { model, prompt } = call.facts
  call.state.promptGuess = await deps.counter.count(model, prompt, deps.settings().ApproximateTokenEnabled)
  return call.state.promptGuess
}
