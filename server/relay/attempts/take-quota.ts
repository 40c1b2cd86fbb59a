import type { Hold } from '../../billing/ledger.ts'
import type { CrashRow } from '../../store/schema/ledger-types.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Charging } from '../charging/charging-types.ts'
import type { Channel } from '../routing/routing-table.ts'

/** A channel, and the price of the call there. */
export interface PricedChannel {
  channel: Channel
  charging: Charging
}

/** Takes the hold by the quick estimate; the tokens are counted only if the quota does not cover that. */
export async function takeQuota(deps: RelayDeps, call: AnyCall, { channel, charging }: PricedChannel): Promise<Hold> {
  const { caller } = call
  const guess = call.promptGuess
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
 * The model or its tier may be more expensive at another channel, so the hold grows up to the balance. False if that is
 * not enough.
 */
export async function growHold(
  deps: RelayDeps,
  call: AnyCall,
  { channel, charging }: PricedChannel,
  hold: Hold,
): Promise<boolean> {
  const guess = call.promptGuess
  const missing = charging.ceiling(guess) - hold.amount
  // Even if nothing is missing, the hold must record where the call is now.
  await hold.extend(Math.max(0, missing), charging.least(guess), crashRowOf(call, channel))
  if (hold.amount >= charging.least(guess)) return true
  await countPrompt(deps, call)
  return hold.amount >= charging.least(call.promptGuess)
}

/** The usage that the minimum charge of a call covers: its prompt, and one token per choice. */
function crashRowOf(call: AnyCall, channel: Channel): CrashRow {
  const isGenerating = call.mode === 'chat' || call.mode === 'completions'
  return {
    channelId: channel.id,
    promptTokens: call.promptGuess,
    completionTokens: isGenerating ? call.facts.choices : 0,
  }
}

/** Counts the tokens of the prompt, which replaces the quick estimate. */
async function countPrompt(deps: RelayDeps, call: AnyCall): Promise<number> {
  const { model, prompt } = call.facts
  call.promptGuess = await deps.counter.count(model, prompt, deps.settings().ApproximateTokenEnabled)
  return call.promptGuess
}
