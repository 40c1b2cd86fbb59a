import { readErrorBody } from '../../dialects/openai-passthrough/errors.ts'
import type { AnyCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { continuedFrom } from '../call/thread-calls.ts'
import { withOtherKey } from '../failures/key-failure.ts'
import { addressVerdict, isOfficial } from '../failures/no-such-address.ts'
import { type AttemptFailed, backOffMs } from '../failures/retry-policy.ts'
import { isAboutUsage, noteRefusesUsage, refusesUsage } from '../failures/stream-usage-refused.ts'
import { isAboutThoughts } from '../failures/thoughts-refused.ts'
import { mappedModel } from '../routing/routing-table.ts'
import { endpointFeature, isChat, mayBeMissing } from '../upstream/call-endpoint.ts'
import { compactionFeature, hasCompaction } from '../upstream/prepare-compaction.ts'
import { nextPaid, withPlaceOfKey } from './next-paid.ts'
import { noteFailure } from './note-failure.ts'
import { type Form, newTrial, type Trial } from './trial.ts'

/** A call, and what has been tried for it so far. */
export interface Run {
  readonly deps: RelayDeps
  readonly call: AnyCall
  /** The attempt that failed. */
  trial: Trial
  readonly channelsTried: Set<number>
  /** Keys of the current channel that have been tried. */
  readonly keysTried: Set<string>
  retries: number
  /** True if the last failure is the fault of the channel's key alone and the channel has other keys. */
  isKeysFault: boolean
}

/** What can be done about a failed attempt. */
interface Remedy {
  /**
   * `form`: the same channel is called with the request in another form, and the failure does not count against the
   * channel. `destination`: another key or channel is called, after the failure has been recorded against the one that
   * failed.
   */
  kind: 'form' | 'destination'
  /** The next attempt; undefined if the remedy does not apply. */
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
  { kind: 'form', next: freshLogin },
  { kind: 'destination', next: otherKey },
  { kind: 'destination', next: otherChannel },
]

/** The attempt to make after a failed one; undefined if nothing is left to try. */
export async function remedyFor(run: Run, failed: AttemptFailed): Promise<Trial | undefined> {
  let isNoted = false
  for (const { kind, next } of remedies) {
    if (kind === 'destination' && !isNoted) {
      run.isKeysFault = noteFailure(run.deps, run.call, run.trial.channel, failed)
      isNoted = true
    }
    const trial = run.call.signal.aborted ? undefined : await next(run, failed)
    if (trial) return trial
  }
  return undefined
}

/**
 * The same attempt with the request in another form. If it succeeds, `lesson` is run, which remembers what was learned
 * about the service.
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

/** Omits the request for a stream's usage if the service refuses it. */
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

/** Logs in again if a cached upstream token is refused, since it may have been revoked. */
function freshLogin({ deps, trial }: Run, { error }: AttemptFailed): Trial | undefined {
  const { form, lent } = trial
  if (form.freshLogin || lent.size === 0 || error.status !== 401) return undefined
  for (const [name, value] of lent) deps.accessTokens.refused(name, value)
  return changed(trial, { freshLogin: true })
}

/** Tries another key of the same channel, at the same price, if the failure is the fault of the key. */
function otherKey({ deps, call, trial, keysTried, isKeysFault }: Run): Trial | undefined | Promise<Trial | undefined> {
  if (!isKeysFault || call.keeper || continuedFrom(call) !== undefined) return undefined
  const channel = withOtherKey(deps, trial.channel, keysTried)
  if (!channel || channel.capped === 0) return channel && newTrial({ ...trial, channel })
  return withPlaceOfKey(deps, call, trial, channel, keysTried).then(
    (placed) => placed && newTrial({ ...trial, channel: placed }),
  )
}

/** Tries another channel, after a pause that grows with each retry. */
async function otherChannel(run: Run, { verdict }: AttemptFailed): Promise<Trial | undefined> {
  const { deps, call, trial, channelsTried } = run
  const isUnsent = verdict.unsent === true
  if (!verdict.retry || call.caller.chosenChannel) return undefined
  if (!isUnsent && run.retries >= deps.settings().RetryTimes) return undefined
  const next = await nextPaid(deps, call, trial.hold, channelsTried)
  if (!next) return undefined
  if (!isUnsent) await new Promise((resolve) => setTimeout(resolve, backOffMs(run.retries++, deps.random)))
  run.keysTried.clear()
  return newTrial(next)
}
