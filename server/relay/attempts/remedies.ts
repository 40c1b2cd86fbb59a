import { readErrorBody } from '../../dialects/openai-passthrough/errors.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { notePlace } from '../call/note-place.ts'
import { continuedFrom } from '../call/thread-calls.ts'
import { withOtherKey } from '../failures/key-failure.ts'
import { addressVerdict, isOfficial } from '../failures/no-such-address.ts'
import { noteHealth } from '../failures/note-health.ts'
import type { RefusedAnswer } from '../failures/refused-answer.ts'
import { type AttemptFailed, backOffMs, isRepeatable, repeatAfterMs } from '../failures/retry-policy.ts'
import { isAboutUsage, noteRefusesUsage, refusesUsage } from '../failures/stream-usage-refused.ts'
import { isAboutThoughts } from '../failures/thoughts-refused.ts'
import { type Channel, mappedModel } from '../routing/routing-table.ts'
import { endpointFeature, isChat, mayBeMissing } from '../upstream/call-endpoint.ts'
import { compactionFeature, hasCompaction } from '../upstream/prepare-compaction.ts'
import { endOf } from '../upstream/time-limits.ts'
import { hasFreeChannel } from './free-channel.ts'
import { nextPaid, withPlaceOfKey } from './next-paid.ts'
import { nextStep } from './next-step.ts'
import { noteFailure } from './note-failure.ts'
import { pause } from './pause.ts'
import { type Form, newTrial, type Trial } from './trial.ts'

/** A call and the attempts that have been made for it so far. */
export interface Run<Call extends AnyCall = AnyCall> {
  readonly deps: RelayDeps
  /** Replaced when the call continues with the next step of its virtual model. */
  call: Call
  /** The attempt that failed. */
  trial: Trial
  readonly channelsTried: Set<number>
  /** Keys of the current channel that have been tried. */
  readonly keysTried: Set<string>
  retries: number
  /** How often the current channel has been tried again. */
  repeats: number
  /** The last response in which a model refused to answer. The caller gets it if no other attempt succeeds. */
  refused?: RefusedAnswer
  /** True if only the channel's key caused the last failure and the channel has other keys. */
  isKeysFault: boolean
}

/** A way to continue after a failed attempt. */
interface Remedy {
  /**
   * `form`: a changed request (for example, for another endpoint or without a field) is sent to the same channel, and
   * the failure does not count against the channel. `destination`: the failure is recorded against the channel, and
   * then the same channel, another key or another channel is called.
   */
  kind: 'form' | 'destination'
  /** The next attempt. Undefined if the remedy does not apply. */
  next(run: Run, failed: AttemptFailed): Trial | undefined | Promise<Trial | undefined>
}

/**
 * The remedies, in the order in which they are tried. Each remedy of the kind `form` is tried at most once per channel.
 */
const remedies: readonly Remedy[] = [
  { kind: 'form', next: ownSummary },
  { kind: 'form', next: otherEndpoint },
  { kind: 'form', next: withoutUsage },
  { kind: 'form', next: withoutThoughts },
  { kind: 'form', next: withoutPrefill },
  { kind: 'form', next: freshLogin },
  { kind: 'destination', next: otherKey },
  { kind: 'destination', next: sameChannel },
  { kind: 'destination', next: otherChannel },
  { kind: 'destination', next: otherStep },
]

/** The attempt to make after a failed one. Undefined if nothing is left to try. */
export async function remedyFor(run: Run, failed: AttemptFailed): Promise<Trial | undefined> {
  let isNoted = false
  for (const { kind, next } of remedies) {
    if (kind === 'destination' && !isNoted) {
      run.isKeysFault = noteFailure(run.deps, run.call, run.trial.channel, failed)
      isNoted = true
    }
    const trial = run.call.leaving.hasLeft ? undefined : await next(run, failed)
    if (trial) return trial
  }
  return undefined
}

/**
 * The same attempt with a changed request. If it succeeds, `lesson` is called. It records the feature that the service
 * does not support.
 */
function changed(trial: Trial, change: Form, lesson?: () => void): Trial {
  return newTrial(trial, { ...trial.form, ...change }, lesson ? [...trial.lessons, lesson] : trial.lessons)
}

/** Asks the model for a summary if the server turns out not to compact conversations. */
function ownSummary({ deps, call, trial }: Run, { status, text }: AttemptFailed): Trial | undefined {
  const { channel, endpoints, form } = trial
  if (call.mode !== 'chat' || !call.compacts || form.ownSummary || !endpoints[0]) return undefined
  if (!hasCompaction(deps, channel, endpoints[0])) return undefined
  const isMissing =
    call.compacts === 'call' ? mayBeMissing(status) : status === 400 && text.includes('compaction_trigger')
  if (!isMissing || isOfficial(channel.upstream.baseUrl, channel.provider.meta.defaultBaseUrl)) return undefined
  const verdict = call.compacts === 'call' ? addressVerdict(status, text, '/responses/compact') : 'unsure'
  if (verdict === 'there') return undefined
  if (verdict === 'unsure') return changed(trial, { ownSummary: true })
  const { message } = readErrorBody(text, status)
  return changed(trial, { ownSummary: true }, () => deps.unsupportedFeatures.note(compactionFeature(channel), message))
}

/** Tries the next endpoint of the channel if the server does not have the current one. */
function otherEndpoint({ deps, trial }: Run, { status, text }: AttemptFailed): Trial | undefined {
  const { channel, endpoints } = trial
  const [first, second] = endpoints
  if (!first || !second || !isChat(first) || !isChat(second) || !mayBeMissing(status)) return undefined
  if (isOfficial(channel.upstream.baseUrl, channel.provider.meta.defaultBaseUrl)) return undefined
  const verdict = addressVerdict(status, text, first.dialect.name === 'anthropic-messages' ? '/messages' : '/responses')
  if (verdict === 'there') return undefined
  if (verdict === 'unsure') return changed(trial, { endpoint: second })
  const { message } = readErrorBody(text, status)
  return changed(trial, { endpoint: second }, () =>
    deps.unsupportedFeatures.note(endpointFeature(channel, first), message),
  )
}

/** Sends the request without the option that asks for the stream's usage, if the service refuses that option. */
function withoutUsage({ deps, call, trial }: Run, failed: AttemptFailed): Trial | undefined {
  const { channel, form } = trial
  const unsupported = deps.unsupportedFeatures
  const model = mappedModel(channel, call.facts.model)
  if (form.withoutUsage || refusesUsage(unsupported, channel, model) || !isAboutUsage(failed, call, channel, model))
    return undefined
  return changed(trial, { withoutUsage: true }, () => noteRefusesUsage(unsupported, channel, model, failed))
}

/** Drops reasoning from earlier in the conversation if the service refuses it because another service produced it. */
function withoutThoughts({ call, trial }: Run, failed: AttemptFailed): Trial | undefined {
  if (trial.form.withoutThoughts || !isAboutThoughts(failed, call)) return undefined
  return changed(trial, { withoutThoughts: true })
}

/** Statuses with which a service may refuse to continue an incomplete turn. */
const prefillStatuses: ReadonlySet<number> = new Set([400, 404, 422])

/** Asks the model to continue in a new turn if the service refuses to continue the incomplete turn. */
function withoutPrefill({ trial }: Run, { status }: AttemptFailed): Trial | undefined {
  if (!trial.isPrefilled || trial.form.withoutPrefill || !prefillStatuses.has(status)) return undefined
  return changed(trial, { withoutPrefill: true })
}

/** Logs in again if a cached upstream token is refused, since it may have been revoked. */
function freshLogin({ deps, trial }: Run, { error }: AttemptFailed): Trial | undefined {
  const { form, lent } = trial
  if (form.freshLogin || lent.size === 0 || error.status !== 401) return undefined
  for (const [name, value] of lent) deps.accessTokens.refused(name, value)
  return changed(trial, { freshLogin: true })
}

/** Tries another key of the same channel, at the same price, if the key caused the failure. */
function otherKey(run: Run): Trial | undefined | Promise<Trial | undefined> {
  const { deps, call, trial, keysTried, isKeysFault } = run
  if (!isKeysFault || call.keeper || continuedFrom(call) !== undefined) return undefined
  const channel = withOtherKey(deps, call, trial.channel, keysTried)
  if (!channel) return undefined
  if (channel.capped !== 0)
    return withPlaceOfKey(deps, call, trial, channel, keysTried).then((placed) => placed && trialWithKey(run, placed))
  return trialWithKey(run, channel)
}

function trialWithKey({ call, trial }: Run, channel: Channel): Trial {
  notePlace(call, channel, call.state.isAtPlace === true)
  return newTrial({ ...trial, channel })
}

/**
 * Calls the same channel once more, with the same key, if the failure may be temporary or the service asks for a retry
 * soon. The channel is not called again if its breaker has opened.
 */
async function sameChannel(run: Run, failed: AttemptFailed): Promise<Trial | undefined> {
  const { deps, call, trial } = run
  if (run.repeats >= deps.settings().SameChannelRetries || !isRepeatable(failed)) return undefined
  if (deps.breaker.isOpen(trial.channel.id, call.facts.model)) return undefined
  const waitMs = repeatAfterMs(failed, run.repeats, deps.random)
  const mostMs = hasOtherChannel(run) ? shortWaitMs : longWaitMs
  if (waitMs > mostMs || !(await mayRetryAfter(run, waitMs))) return undefined
  const channel = trial.channel.capped === 0 ? trial.channel : await countedAgain(run)
  if (!channel) return undefined
  run.repeats++
  return newTrial({ ...trial, channel }, trial.form, trial.lessons)
}

/**
 * Counts the repeated request against the limits of its channel, because the service receives another request.
 * Undefined if the limits leave no room for it.
 */
function countedAgain({ deps, call, trial, keysTried }: Run): Promise<Channel | undefined> {
  return withPlaceOfKey(deps, call, trial, trial.channel, keysTried)
}

/**
 * The longest pauses that a call accepts before it tries the same channel again: the short one if another channel could
 * serve the call, the long one if none could.
 */
const shortWaitMs = 5_000
const longWaitMs = 30_000

/** True if another channel could serve the call now. */
function hasOtherChannel({ deps, call, channelsTried }: Run): boolean {
  return !call.caller.chosenChannel && hasFreeChannel(deps, call, channelsTried)
}

/** Tries another channel, after a pause that grows with each retry. */
async function otherChannel(run: Run, { verdict }: AttemptFailed): Promise<Trial | undefined> {
  const { deps, call, trial, channelsTried } = run
  const isUnsent = verdict.unsent === true
  if (!verdict.retry || call.caller.chosenChannel) return undefined
  if (!isUnsent && run.retries >= deps.settings().RetryTimes) return undefined
  const next = await nextPaid(deps, call, trial.hold, channelsTried)
  if (!next) return undefined
  if (!isUnsent && !(await mayRetryAfter(run, backOffMs(run.retries++, deps.random)))) {
    noteHealth(deps, { channel: next.channel, call }, 'undecided')
    // If the call waited for capacity, `next` has a new hold. Only this function knows that hold, so it releases it.
    if (next.hold !== trial.hold) await next.hold.release()
    return undefined
  }
  run.keysTried.clear()
  run.repeats = 0
  return newTrial(next)
}

/** Continues with the next step of a virtual model. This does not count as a retry. */
async function otherStep(run: Run, failed: AttemptFailed): Promise<Trial | undefined> {
  const next = await nextStep(run.deps, run.call, run.trial, failed)
  if (!next) return undefined
  run.call = next.call
  run.channelsTried.clear()
  for (const id of next.skipped) run.channelsTried.add(id)
  run.keysTried.clear()
  run.retries = 0
  run.repeats = 0
  return newTrial(next.placed)
}

/**
 * Waits before a retry. Returns false without waiting if the call's time limit or the retry budget does not allow a
 * retry. Also returns false if the caller disconnects during the wait.
 */
async function mayRetryAfter({ deps, call, trial }: Run, waitMs: number): Promise<boolean> {
  const nowMs = deps.deadlineWatch.nowMs()
  if (nowMs + waitMs >= endOf(call, trial.channel, deps.settings(), nowMs)) return false
  if (!deps.retryBudget.take(call.facts.model, deps.clock.nowMs())) return false
  await pause(deps, call, waitMs)
  return !call.leaving.hasLeft
}
