import type { Hold } from '../../billing/ledger.ts'
import { describeFault, GatewayError } from '../../errors.ts'
import type { CrashRow } from '../../store/schema/ledger-types.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { keeperOf, threadKeeper } from '../call/thread-calls.ts'
import { chargingFor } from '../charging/charging.ts'
import type { Charging } from '../charging/charging-types.ts'
import { noteHealth } from '../failures/note-health.ts'
import { type Channel, mappedModel, withKey } from '../routing/routing-table.ts'
import { selectChannel } from '../routing/select-channel.ts'
import { noChannel } from './no-channel.ts'

/**
 * The next channel that has a price for the call, or the error that explains why there is none. Channels without a
 * price, and channels whose mapped model cannot do what is requested, are skipped as if they had been tried. Throws
 * GatewayError if every channel would refuse the call.
 */
export function nextPriced(deps: RelayDeps, call: AnyCall, tried: Set<number>): PricedChannel | GatewayError {
  let why: GatewayError | undefined
  for (;;) {
    const channel = nextChannel(deps, call, tried)
    if (!channel) return why ?? noChannel(call, deps.routing().candidates(call.caller.group, call.facts.model))
    try {
      return { channel, charging: priced(deps, call, channel) }
    } catch (error) {
      noteHealth(deps, { channel, call }, 'undecided')
      if (!isOfChannel(error, call, channel)) throw error
      // An error that the caller can fix is more useful than one that only the operator can fix.
      if (!why || why.code === 'model_not_priced') why = error
      tried.add(channel.id)
    }
  }
}

/** The next channel whose price the quota covers. The hold is increased to that price. */
export async function nextPaid(
  deps: RelayDeps,
  call: AnyCall,
  hold: Hold,
  tried: Set<number>,
): Promise<PricedChannel | undefined> {
  for (;;) {
    const next = nextIfAny(deps, call, tried)
    if (!next) return undefined
    const isPaid = await growHold(deps, call, next, hold).catch((error: unknown) => {
      deps.events.warning(`${call.requestId}: ${describeFault(error)}`)
      return undefined
    })
    if (isPaid) return next
    noteHealth(deps, { channel: next.channel, call }, 'undecided')
    // The database cannot be reached, so trying the other channels would not help.
    if (isPaid === undefined) return undefined
    tried.add(next.channel.id)
  }
}

/** The next channel, or undefined on an error, so that the caller sees the upstream's error instead. */
function nextIfAny(deps: RelayDeps, call: AnyCall, tried: Set<number>): PricedChannel | undefined {
  try {
    const next = nextPriced(deps, call, tried)
    return next instanceof GatewayError ? undefined : next
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/** True for an error that might not occur on another channel. */
function isOfChannel(error: unknown, { caller, facts }: AnyCall, channel: Channel): error is GatewayError {
  if (!(error instanceof GatewayError) || caller.chosenChannel) return false
  const isUnpriced = error.code === 'model_not_priced' || error.code === 'tier_not_priced'
  return isUnpriced || mappedModel(channel, facts.model) !== facts.model
}

function nextChannel(deps: RelayDeps, call: AnyCall, tried: ReadonlySet<number>): Channel | undefined {
  const { mode, requestId } = call
  const { chosenChannel, group } = call.caller
  const { model } = call.facts
  const candidates = deps.routing().candidates(group, model)
  const keeper = threadKeeper(deps, call)
  if (keeper) return keeperOf(chosenChannel ? [{ channel: chosenChannel }] : candidates, keeper, tried)
  const channel =
    chosenChannel ?? selectChannel({ mode, model, requestId }, candidates, tried, deps.breaker, deps.random)
  return channel && withKey(channel, deps.clock.nowMs())
}

function priced(deps: RelayDeps, call: AnyCall, channel: Channel): Charging {
  const model = mappedModel(channel, call.facts.model)
  return chargingFor({ call, prices: deps.prices(), model, channel, sliceTokens: deps.settings().PreConsumedQuota })
}

/** A channel, and the price of the call on that channel. */
export interface PricedChannel {
  channel: Channel
  charging: Charging
}

/** Takes the hold by the quick estimate. The tokens are counted only if the quota does not cover the estimate. */
export async function takeQuota(deps: RelayDeps, call: AnyCall, { channel, charging }: PricedChannel): Promise<Hold> {
  const { caller } = call
  const guess = call.state.promptGuess
  const request = {
    userId: caller.userId,
    tokenId: caller.tokenId,
    limits: caller.limits,
    tokens: charging.reserved(guess),
    crashCharge: charging.least(guess),
    crashRow: crashRowOf(call, channel),
    modelName: call.facts.model,
    requestId: call.requestId,
  }
  const amount = charging.ceiling(guess)
  const hold = await deps.ledger.tryHold({ ...request, amount, least: amount })
  if (hold) return hold
  const exact = await countPrompt(deps, call)
  const least = charging.least(exact)
  return deps.ledger.hold({
    ...request,
    amount: charging.ceiling(exact),
    least,
    tokens: charging.reserved(exact),
    crashCharge: least,
    crashRow: crashRowOf(call, channel),
    signal: call.signal,
  })
}

/**
 * Increases the hold, at most up to the balance, because the model or its tier may be more expensive on another
 * channel. False if the increased hold is not enough.
 */
async function growHold(
  deps: RelayDeps,
  call: AnyCall,
  { channel, charging }: PricedChannel,
  hold: Hold,
): Promise<boolean> {
  const guess = call.state.promptGuess
  const missing = charging.ceiling(guess) - hold.amount
  // Even if the hold is large enough, it must record which channel the call is using now.
  await hold.extend(Math.max(0, missing), charging.least(guess), crashRowOf(call, channel))
  if (hold.amount >= charging.least(guess)) return true
  await countPrompt(deps, call)
  return hold.amount >= charging.least(call.state.promptGuess)
}

/** The usage that the minimum charge of a call covers: its prompt and one token per choice. */
function crashRowOf(call: AnyCall, channel: Channel): CrashRow {
  const isGenerating = call.mode === 'chat' || call.mode === 'completions'
  return {
    channelId: channel.id,
    promptTokens: call.state.promptGuess,
    completionTokens: isGenerating ? call.facts.choices : 0,
  }
}

/** Counts the tokens of the prompt and replaces the quick estimate with the count. */
async function countPrompt(deps: RelayDeps, call: AnyCall): Promise<number> {
  const { model, prompt } = call.facts
  call.state.promptGuess = await deps.counter.count(model, prompt, deps.settings().ApproximateTokenEnabled)
  return call.state.promptGuess
}
