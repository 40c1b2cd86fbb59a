import type { Hold } from '../billing/ledger.ts'
import { ToolCounter } from '../dialects/tool-counts.ts'
import { GatewayError } from '../errors.ts'
import type { CrashRow } from '../store/ledger-store.ts'
import { askUpstream, patienceOf, type Question } from './ask-upstream.ts'
import type { AnyCall, Attempt, RelayCall } from './call.ts'
import { CallerLeft } from './caller-left.ts'
import type { Charging } from './charge.ts'
import { chargingFor } from './charging.ts'
import { deliver } from './deliver.ts'
import type { RelayDeps } from './deps.ts'
import { describeFault } from './describe-fault.ts'
import { forCaller, reasonOf } from './error-answer.ts'
import { ownHeaders } from './headers.ts'
import { noteKeyFailure, withOtherKey } from './key-failure.ts'
import { measure } from './measure.ts'
import { noChannel } from './no-channel.ts'
import { noteHealth } from './note-health.ts'
import { leftOutOf, type Prepared } from './prepare.ts'
import { AttemptFailed, backOffMs, judgeFailure } from './retry-policy.ts'
import { type Channel, mappedModel, withKey } from './routing-table.ts'
import { selectChannel } from './select-channel.ts'
import { type OpenCall, settle } from './settlement.ts'
import { isAboutThoughts } from './thoughts-refused.ts'
import { continuedFrom, keeperOf, threadPlace } from './thread-calls.ts'
import { isAboutUsage, noteRefusesUsage, refusesUsage } from './usage-refused.ts'
import { withoutKey } from './without-key.ts'

/**
 * The whole life of one call: choose a channel, price it, take the quota, send, deliver, settle; another channel when
 * one fails before its first byte. Throws GatewayError or AttemptFailed; then nothing has been charged.
 */
export function relay(deps: RelayDeps, call: RelayCall): Promise<Response> {
  return throughChannels(deps, call, attempt)
}

/**
 * Runs a call that makes its attempts in a way of its own: the same choice of channels, keys and prices, and the same
 * hold, which an attempt owns once it has called `handOver`. Throws like `relay`.
 */
export async function throughChannels<Call extends AnyCall>(
  deps: RelayDeps,
  call: Call,
  attempt: MakeAttempt<Call>,
): Promise<Response> {
  const settings = deps.settings()
  const tried = new Set<number>()
  const keysTried = new Set<string>()
  const first = nextPriced(deps, call, tried)
  if (first instanceof GatewayError) throw first
  let { channel, charging } = first
  let hold: Hold | undefined
  let handedOver = false
  try {
    hold = await takeQuota(deps, call, first)
    call.isHeld = true
    for (let retries = 0; ; ) {
      tried.add(channel.id)
      keysTried.add(channel.upstream.key)
      const failed = await attempt(deps, call, { hold, charging, channel, attempts: call.attempts }, () => {
        handedOver = true
      })
      if (failed instanceof Response) return failed
      const isKeysFault = noteFailure(deps, call, channel, failed)
      const mayChangeKey = isKeysFault && !call.signal.aborted && continuedFrom(call) === undefined
      const sibling = mayChangeKey ? withOtherKey(deps, channel, keysTried) : undefined
      if (sibling) {
        // Not another channel, so neither a retry nor another price.
        channel = sibling
        continue
      }
      const isUnsent = failed.verdict.unsent === true
      const mayRetry =
        failed.verdict.retry &&
        (isUnsent || retries < settings.RetryTimes) &&
        !call.caller.chosenChannel &&
        !call.signal.aborted
      const next = mayRetry ? await nextPaid(deps, call, hold, tried) : undefined
      if (!next) throw forCaller(failed)
      if (!isUnsent) await new Promise((resolve) => setTimeout(resolve, backOffMs(retries++, deps.random)))
      channel = next.channel
      keysTried.clear()
      charging = next.charging
    }
  } catch (error) {
    // Until the answer has taken the hold over, every way out gives the quota back, and the channel a trial without a verdict.
    if (!handedOver) {
      noteHealth(deps, { channel, call }, 'undecided')
      await hold?.release()
    }
    throw error
  }
}

function nextChannel(deps: RelayDeps, call: AnyCall, tried: ReadonlySet<number>): Channel | undefined {
  const { mode, requestId } = call
  const { chosenChannel, group } = call.caller
  const { model } = call.facts
  const candidates = deps.routing().candidates(group, model)
  const place = threadPlace(deps, call)
  if (place) return keeperOf(chosenChannel ? [{ channel: chosenChannel }] : candidates, place, tried)
  const channel =
    chosenChannel ?? selectChannel({ mode, model, requestId }, candidates, tried, deps.breaker, deps.random)
  return channel && withKey(channel, deps.clock.nowMs())
}

/** A channel, and what the call costs there. */
interface PricedChannel {
  channel: Channel
  charging: Charging
}

/**
 * The next channel that has a price for the call, or why there is none: those without one, and those that have another
 * model for it which cannot do what is asked, are passed over, as if they had been tried. Throws GatewayError for what
 * would be refused at every channel.
 */
function nextPriced(deps: RelayDeps, call: AnyCall, tried: Set<number>): PricedChannel | GatewayError {
  let why: GatewayError | undefined
  for (;;) {
    const channel = nextChannel(deps, call, tried)
    if (!channel) return why ?? noChannel(call, deps.routing().candidates(call.caller.group, call.facts.model))
    try {
      return { channel, charging: priced(deps, call, channel) }
    } catch (error) {
      noteHealth(deps, { channel, call }, 'undecided')
      if (!isOfChannel(error, call, channel)) throw error
      // What a caller can mend says more than what an operator left out.
      if (!why || why.code === 'model_not_priced') why = error
      tried.add(channel.id)
    }
  }
}

/** True for a refusal that another channel may not have. */
function isOfChannel(error: unknown, { caller, facts }: AnyCall, channel: Channel): error is GatewayError {
  if (!(error instanceof GatewayError) || caller.chosenChannel) return false
  const isUnpriced = error.code === 'model_not_priced' || error.code === 'tier_not_priced'
  return isUnpriced || mappedModel(channel, facts.model) !== facts.model
}

/** The next channel that the call can be paid at, with the hold grown to its price. */
async function nextPaid(
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
    // The database is away, for the others too.
    if (isPaid === undefined) return undefined
    tried.add(next.channel.id)
  }
}

/** What the next channels would refuse is not told: the caller hears what went wrong upstream. */
function nextIfAny(deps: RelayDeps, call: AnyCall, tried: Set<number>): PricedChannel | undefined {
  try {
    const next = nextPriced(deps, call, tried)
    return next instanceof GatewayError ? undefined : next
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

function priced(deps: RelayDeps, call: AnyCall, channel: Channel): Charging {
  return chargingFor(
    call,
    deps.prices(),
    mappedModel(channel, call.facts.model),
    channel.type,
    deps.settings().PreConsumedQuota,
  )
}

/** First by the quick estimate; the tokens are counted only when that much is not there. */
async function takeQuota(deps: RelayDeps, call: AnyCall, { channel, charging }: PricedChannel): Promise<Hold> {
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

/** What the least charge of a call is for: its prompt, and a token of each answer. */
function crashRowOf(call: AnyCall, channel: Channel): CrashRow {
  const isGenerating = call.mode === 'chat' || call.mode === 'completions'
  return {
    channelId: channel.id,
    promptTokens: call.promptGuess,
    completionTokens: isGenerating ? call.facts.choices : 0,
  }
}

/**
 * The model, or a tier of it, may be dearer at another channel: the hold grows with it, as far as the balance goes. False
 * when that is not far enough.
 */
async function growHold(
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

/** The tokens of the prompt, in place of the quick estimate. */
async function countPrompt(deps: RelayDeps, call: AnyCall): Promise<number> {
  const { model, prompt } = call.facts
  call.promptGuess = await deps.counter.count(model, prompt, deps.settings().ApproximateTokenEnabled)
  return call.promptGuess
}

/** One attempt at one channel: an answer for the caller, or why there is none. Until it hands over, the hold is not its own. */
export type MakeAttempt<Call extends AnyCall> = (
  deps: RelayDeps,
  call: Call,
  trial: Trial,
  handOver: () => void,
) => Promise<Response | AttemptFailed>

/** What an attempt is made with. */
export interface Trial {
  hold: Hold
  charging: Charging
  channel: Channel
  attempts: Attempt[]
}

/**
 * Once more where the service refuses an access token that was kept: it may have taken the token back; or to be asked for
 * the usage of a stream; or what another service thought earlier in the conversation.
 */
async function attempt(
  deps: RelayDeps,
  call: RelayCall,
  trial: Trial,
  handOver: () => void,
): Promise<Response | AttemptFailed> {
  const lent = new Map<string, string>()
  const { channel } = trial
  const upstreamModel = mappedModel(channel, call.facts.model)
  const withoutUsage = call.facts.stream && refusesUsage(deps.missingPlaces, channel, upstreamModel)
  const how = { upstreamModel, lent, withoutUsage }
  const failed = await attemptOnce(deps, call, trial, handOver, how)
  if (failed instanceof Response || call.signal.aborted) return failed
  if (!withoutUsage && isAboutUsage(failed, call, channel, upstreamModel)) {
    const next = await attemptOnce(deps, call, trial, handOver, { ...how, lent: new Map(), withoutUsage: true })
    // One who leaves has an answer, too.
    if (next instanceof Response && next.ok) noteRefusesUsage(deps.missingPlaces, channel, upstreamModel, failed)
    return next
  }
  if (isAboutThoughts(failed, call))
    return attemptOnce(deps, call, trial, handOver, { ...how, lent: new Map(), withoutThoughts: true })
  if (lent.size === 0 || failed.error.status !== 401) return failed
  for (const [name, value] of lent) deps.accessTokens.refused(name, value)
  return attemptOnce(deps, call, trial, handOver, { ...how, lent: new Map() })
}

async function attemptOnce(
  deps: RelayDeps,
  call: RelayCall,
  trial: Trial,
  handOver: () => void,
  how: Pick<Question, 'upstreamModel' | 'lent' | 'withoutUsage' | 'withoutThoughts'>,
): Promise<Response | AttemptFailed> {
  const { channel, charging, hold, attempts } = trial
  const settings = deps.settings()
  const startedAtMs = deps.idleWatch.nowMs()
  const { upstreamModel } = how
  const note = (status: number, error: string) =>
    void attempts.push({
      channelId: channel.id,
      status,
      error,
      elapsedMs: Math.round(deps.idleWatch.nowMs() - startedAtMs),
    })
  const open: OpenCall = { call, hold, charging, channel, upstreamModel, attempts, systemPromptReset: false }
  if (charging.tools) open.tools = new ToolCounter()
  let sent: OpenCall | undefined
  try {
    const capTokens = charging.affordable(hold.amount, call.promptGuess)
    const ready = (prepared: Prepared) => {
      open.systemPromptReset = prepared.systemPromptReset
      if (prepared.tierLost) open.tierLost = true
      call.dropped = leftOutOf(prepared)
      sent = open
    }
    const question = { call, channel, capTokens, ...how }
    const { prepared, response } = await askUpstream(deps, question, patienceOf(channel, settings), ready)
    const delivered = await deliver(deps, open, response, prepared, startedAtMs, () => {
      note(response.status, '')
      handOver()
    })
    return delivered
  } catch (error) {
    if (error instanceof CallerLeft && sent) {
      note(0, error.message)
      handOver()
      return chargePrompt(deps, sent)
    }
    const failed = error instanceof AttemptFailed ? error : toFailure(error)
    note(failed.status, reasonOf(failed, channel.upstream.key))
    return failed
  }
}

/** The caller left while the upstream worked for it, and the upstream charges for what it has read. */
async function chargePrompt(deps: RelayDeps, open: OpenCall): Promise<Response> {
  noteHealth(deps, open, 'undecided')
  const found = await measure(deps, open, { usage: undefined, output: () => '' })
  await settle(deps, open, { measure: found.measure, outcome: 'aborted', code: '', firstByteMs: 0 })
  // Nobody reads this; the number is the usual one for a caller who closed the request.
  return new Response(null, { status: 499, headers: ownHeaders(open.call) })
}

/** An error of the gateway as the end of an attempt; every other is thrown on. */
export function toFailure(error: unknown): AttemptFailed {
  if (error instanceof GatewayError) return new AttemptFailed(error, judgeFailure(error), 0)
  throw error
}

/** True when the fault is of the channel's key alone, and the channel has others. */
function noteFailure(deps: RelayDeps, call: AnyCall, channel: Channel, failed: AttemptFailed): boolean {
  const model = call.facts.model
  // Who left tells nothing of the channel, unless that could not even be reached.
  if (call.signal.aborted && failed.error.code !== 'upstream_timeout') {
    noteHealth(deps, { channel, call }, 'undecided')
    return false
  }
  const isKeysFault = noteKeyFailure(deps, channel, failed)
  const isFaulty = failed.verdict.upstreamFault && !isKeysFault
  noteHealth(deps, { channel, call }, isFaulty ? 'faulty' : 'undecided', failed.error.message)
  // What another channel may do better speaks against this one, even where no other was left.
  if (failed.verdict.retry && !failed.verdict.unsent) deps.channelFailures.note(channel.id, mappedModel(channel, model))
  // The channel asked for a pause: other calls go elsewhere meanwhile, as far as there is an elsewhere.
  const pauseSeconds = failed.error.retryAfterSeconds
  if (pauseSeconds && !isKeysFault)
    deps.breaker.rest(
      channel.id,
      model,
      Math.min(pauseSeconds, deps.settings().RetryAfterLimit) * 1000,
      failed.error.message,
    )
  deps.events.attemptFailed({
    requestId: call.requestId,
    channelId: channel.id,
    model,
    status: failed.status,
    reason: failed.error.code,
    // What the network says may repeat the address or a header, and with it the key.
    cause: failed.error.cause instanceof Error ? withoutKey(failed.error.cause.message, channel.upstream.key) : '',
  })
  if (failed.verdict.disable !== undefined && !channel.keyRing && deps.settings().AutomaticDisableChannelEnabled) {
    // With the key that failed, so that one put in its place meanwhile is not blamed.
    deps.disableChannel(channel.id, failed.verdict.disable, channel.upstream.key)
  }
  return isKeysFault
}
