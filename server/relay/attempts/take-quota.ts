import type { Hold } from '../../billing/ledger.ts'
import type { CrashRow } from '../../store/schema/ledger-types.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { Charging } from '../charging/charging-types.ts'
import type { Channel } from '../routing/routing-table.ts'

/** A channel, and what the call costs there. */
export interface PricedChannel {
  channel: Channel
  charging: Charging
}

/** First by the quick estimate; the tokens are counted only when that much is not there. */
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
 * The model, or a tier of it, may be dearer at another channel: the hold grows with it, as far as the balance goes. False
 * when that is not far enough.
 */
export async function growHold(
  deps: RelayDeps,
  call: AnyCall,
  { channel, charging }: PricedChannel,
  hold: Hold,
): Promise<boolean> {
  const guess = call.promptGuess
  const missing = charging.ceiling(guess) - hold.amount
  // Even where nothing is missing, the hold must tell where the call is now.
  await hold.extend(Math.max(0, missing), charging.least(guess), crashRowOf(call, channel))
  if (hold.amount >= charging.least(guess)) return true
  await countPrompt(deps, call)
  return hold.amount >= charging.least(call.promptGuess)
}

/** What the least charge of a call is for: its prompt, and a token of each answer. */
function crashRowOf(call: AnyCall, channel: Channel): CrashRow {
  const isGenerating = call.mode === 'chat' || call.mode === 'completions'
  return {
    channelId: channel.id,
    promptTokens: call.promptGuess,
    completionTokens: isGenerating ? call.facts.choices : 0,
  }
}

/** The tokens of the prompt, in place of the quick estimate. */
async function countPrompt(deps: RelayDeps, call: AnyCall): Promise<number> {
  const { model, prompt } = call.facts
  call.promptGuess = await deps.counter.count(model, prompt, deps.settings().ApproximateTokenEnabled)
  return call.promptGuess
}
