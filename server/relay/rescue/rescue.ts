import type { Conversation } from '../../dialects/neutral/conversation.ts'
import type { StreamDecoder, StreamEncoder, StreamMeter, UpstreamDialect } from '../../dialects/neutral/dialect.ts'
import { GatewayError } from '../../errors.ts'
import type { Begun } from '../attempts/begin-call.ts'
import { nextPaid } from '../attempts/next-paid.ts'
import { nextStep } from '../attempts/next-step.ts'
import type { Run } from '../attempts/remedies.ts'
import { untilAnswered } from '../attempts/through-channels.ts'
import { newTrial } from '../attempts/trial.ts'
import { atStep } from '../call/at-step.ts'
import type { CallState, RelayCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { CallerLeft } from '../cancellation/caller-left.ts'
import { addedUsage } from '../charging/charging-after.ts'
import { withCost } from '../charging/settlement.ts'
import { quickEstimate } from '../counting/quick-estimate.ts'
import { noteHealth } from '../failures/note-health.ts'
import { AttemptFailed } from '../failures/retry-policy.ts'
import { failedAttempt } from '../failures/upstream-failure.ts'
import { measuredSoFar } from '../stream/settle-stream.ts'
import type { Broken, NextPart, Rescuer } from '../stream/stream-reader.ts'
import { goOnText } from '../upstream/going-on.ts'
import type { Prepared } from '../upstream/prepare.ts'
import { partsOf } from '../upstream/prepare-conversation.ts'
import { endOf } from '../upstream/time-limits.ts'
import { attemptToGoOn } from './attempt-to-go-on.ts'
import { isRescued } from './is-rescued.ts'
import { JoinedEncoder } from './joined-encoder.ts'
import { FollowingEncoder, type PassedNames, passedNames } from './passed-on.ts'
import { Told } from './told.ts'

/** The call that continues the stream, and the channel that was chosen for it. */
type Next = Begun<RelayCall>

/**
 * An upper bound for the tokens that the two added turns (the answer so far, and the request to continue) need in
 * addition to their text.
 */
const turnTokens = 16

/**
 * Returns the object that continues the stream of a call if the stream breaks off. Undefined if the stream of this call
 * must not be continued. Must be called before the body of the call is dropped, because the object keeps the body.
 */
export function rescueFor(deps: RelayDeps, call: RelayCall): StreamRescue | undefined {
  return isRescued(deps, call) ? new StreamRescue(deps, call) : undefined
}

/** Continues one stream each time it breaks off, as often as the number of retries allows. */
export class StreamRescue implements Rescuer {
  readonly #deps: RelayDeps
  readonly #call: RelayCall
  /** The state of the call, including its body, which the call itself drops. */
  readonly #state: CallState
  readonly #told = new Told()
  #names: PassedNames | undefined
  #encoder: JoinedEncoder | undefined
  #rescues = 0

  constructor(deps: RelayDeps, call: RelayCall) {
    this.#deps = deps
    this.#call = call
    this.#state = { ...call.state }
  }

  get isPossible(): boolean {
    // Moving to the next step of a virtual model does not count as a retry, whether or not the answer has begun.
    return this.#told.canGoOn && (this.#mayRetry || (this.#call.step?.next.size ?? 0) > 0)
  }

  get #mayRetry(): boolean {
    return this.#rescues < this.#deps.settings().RetryTimes
  }

  /** Returns an encoder that joins all attempts, for a stream that is translated. */
  encoder(inner: StreamEncoder): StreamEncoder {
    this.#encoder = new JoinedEncoder(inner, this.#told)
    return this.#encoder
  }

  /**
   * Returns a copy of the upstream's dialect whose stream decoder also records the events. It is for the meter of a
   * stream that is passed on unchanged.
   */
  watched(dialect: UpstreamDialect): UpstreamDialect {
    return { ...dialect, streamDecoder: (idSeed) => this.#watching(dialect.streamDecoder(idSeed)) }
  }

  /**
   * Makes a meter record the events of a stream that is passed on unchanged. It is for a meter that does not decode the
   * stream itself.
   */
  metered<Meter extends StreamMeter>(meter: Meter, dialect: UpstreamDialect): Meter {
    const decoder = this.#watching(dialect.streamDecoder(this.#call.requestId))
    const feed = meter.feed.bind(meter)
    meter.feed = (data) => {
      const signal = feed(data)
      if (signal === 'content') decoder.push(data)
      return signal
    }
    // Makes `skim` stop at every event, so that `feed` records each of them.
    meter.skim = (_text, from) => from
    return meter
  }

  #watching(decoder: StreamDecoder): StreamDecoder {
    const names = passedNames(this.#call.dialect)
    this.#names = names
    return {
      push: (data) => {
        const events = decoder.push(data)
        if (this.#told.canGoOn) {
          names.note(data)
          for (const event of events) this.#told.take(event)
        }
        return events
      },
      finish: () => decoder.finish(),
      failedEnd: (failure, requestId) => decoder.failedEnd?.(failure, requestId) ?? '',
    }
  }

  async goOn(broken: Broken): Promise<NextPart | undefined> {
    const mayRetry = this.#mayRetry
    this.#rescues++
    const attempt = this.#call.state.attempts.at(-1)
    if (attempt) attempt.error = broken.error.message
    try {
      const conversation = partsOf({ ...this.#call, state: this.#state })
      const call = isTextAlone(conversation) ? await this.#callAfter(broken, conversation) : undefined
      const next = call && (await this.#next(call, broken, mayRetry))
      return next && (await this.#attempt(next, broken))
    } catch (error) {
      // If continuing the stream fails with one of these errors, the caller receives the error that broke the stream.
      if (error instanceof GatewayError || error instanceof AttemptFailed || error instanceof CallerLeft)
        return undefined
      throw error
    }
  }

  /** The call that continues the stream. Undefined if the answer already has the maximum length that was requested. */
  async #callAfter(broken: Broken, conversation: Conversation): Promise<RelayCall | undefined> {
    const { open } = broken
    const { goesOn: before } = open.call
    // The stream may have moved to another step of the virtual model since it began.
    const { step } = open.call
    const begun = step ? atStep(this.#call, step) : this.#call
    const { facts, state } = begun
    const measure = await measuredSoFar(this.#deps, broken)
    const charge = withCost(open, measure)
    const usage = before ? addedUsage(before.usage, measure.usage) : measure.usage
    const maxTokens = facts.maxTokens === undefined ? undefined : facts.maxTokens - usage.completionTokens
    if (maxTokens !== undefined && maxTokens < 1) return undefined
    const { text } = this.#told
    const { texts, fixedTokens } = facts.prompt
    const prompt = { ...facts.prompt, texts: [...texts, text, goOnText], fixedTokens: fixedTokens + turnTokens }
    const added = { texts: [text, goOnText], fixedTokens: turnTokens }
    return {
      ...begun,
      facts: { ...facts, maxTokens, prompt },
      goesOn: {
        text,
        usage,
        quota: charge.quota,
        cost: charge.cost,
        isEstimated: charge.estimated,
        tools: charge.tools,
      },
      state: {
        ...this.#state,
        // `cost` already includes the lost cost of the earlier attempts.
        lostCost: 0,
        conversation: maxTokens === undefined ? conversation : { ...conversation, maxTokens },
        promptGuess: state.promptGuess + quickEstimate(added),
      },
    }
  }

  /**
   * Chooses the channel that continues the stream, reserves capacity on it, and increases the hold for the attempt. The
   * choices are, in this order:
   * - a channel of the same model that has not been tried
   * - the next step of a virtual model
   * - a channel that has been tried, except the one that broke the stream
   * - the channel that broke the stream, if `SameChannelRetries` is greater than 0
   *
   * If no retry is left, only the next step is possible.
   */
  async #next(
    call: RelayCall,
    { open: { hold, channel }, error }: Broken,
    mayRetry: boolean,
  ): Promise<Next | undefined> {
    const deps = this.#deps
    const settings = deps.settings()
    const nowMs = deps.deadlineWatch.nowMs()
    if (nowMs >= endOf(call, channel, settings, nowMs)) return undefined
    if (!deps.retryBudget.take(call.facts.model, deps.clock.nowMs())) return undefined
    const tried = new Set(call.state.attempts.map(({ channelId }) => channelId))
    const place = async (except: Set<number>): Promise<Next | undefined> => {
      const placed = await nextPaid(deps, call, hold, except)
      return placed && { call, placed, skipped: new Set([channel.id]) }
    }
    const stepOn = () => nextStep(deps, call, { hold, channel }, failedAttempt(error, 200))
    const choices = mayRetry ? [() => place(tried), stepOn, () => place(new Set([channel.id]))] : [stepOn]
    if (mayRetry && settings.SameChannelRetries > 0) choices.push(() => place(new Set()))
    for (const choose of choices) {
      const next = await choose()
      if (next || call.leaving.hasLeft) return next
    }
    return undefined
  }

  async #attempt({ call, placed, skipped }: Next, broken: Broken): Promise<NextPart | undefined> {
    const deps = this.#deps
    const run: Run<RelayCall> = {
      deps,
      call,
      trial: newTrial(placed),
      channelsTried: new Set([broken.open.channel.id, ...skipped]),
      keysTried: new Set(),
      retries: this.#rescues,
      repeats: 0,
      isKeysFault: false,
    }
    try {
      // Use `current`, because `untilAnswered` may have moved the call to another step before this attempt.
      const next = await untilAnswered(run, (_deps, current, trial) =>
        attemptToGoOn(deps, current, trial, (prepared) => this.#joined(current, prepared)),
      )
      for (const remember of run.trial.lessons) remember()
      return next
    } catch (error) {
      noteHealth(deps, { channel: run.trial.channel, call: run.call }, 'undecided')
      throw error
    } finally {
      this.#rescues = run.retries
    }
  }

  /** The encoder, prepared for the events of the next attempt. */
  #joined({ goesOn }: RelayCall, { codec, begunWith }: Prepared): StreamEncoder {
    if (!this.#encoder && codec?.to && this.#names) {
      const inner = codec.to.dialect.streamEncoder(codec.to.frame)
      this.#encoder = new JoinedEncoder(new FollowingEncoder(inner, this.#names, this.#told), this.#told)
    }
    if (!this.#encoder || !goesOn) throw new Error('a stream is rescued that was not watched')
    this.#encoder.goOn(goesOn.usage, begunWith)
    return this.#encoder
  }
}

/**
 * True if the answer is text that another model can continue. Another model cannot continue a JSON object, because it
 * would begin the object again.
 */
function isTextAlone({ format, logprobs, output, choices = 1 }: Conversation): boolean {
  if (logprobs || choices > 1 || (format && format.type !== 'text')) return false
  return (output?.modalities ?? []).every((modality) => modality === 'text')
}
