import type { Usage } from '../../../contract/usage.ts'
import type { MediaTokens, StreamMeter } from '../../dialects/neutral/dialect.ts'
import type { RelayDeps } from '../call/deps.ts'
import { quickTokens } from '../counting/quick-estimate.ts'
import { completionOf, countUsage, measure, promptReport } from './measure.ts'
import { chargeOf, type OpenCall } from './settlement.ts'

/** The part of a response that has been sent to the caller. */
export interface Delivered {
  characters: number
  media: MediaTokens | undefined
}

/**
 * The cost of a stream so far. Until the output is actually counted, the cost is an estimate that is usually too high.
 */
export class RunningCost {
  readonly #deps: RelayDeps
  readonly #open: OpenCall
  readonly #meter: StreamMeter
  #promptTokens: number
  /** The state at the last actual count of the output. The estimate continues from this state. */
  #counted = { pieces: 0, characters: 0, extraBytes: 0, tokens: 0 }
  /**
   * A lower bound, from the last check, of the completion tokens that the hold covers. It is raised when the hold
   * grows.
   */
  #paidTokens = -1
  #isOverdrawn = false
  #deliveredCharacters = 0
  #deliveredMedia: MediaTokens | undefined
  /** The prompt usage reported by the upstream; undefined until it is used for the cost. */
  #prompt: Usage | undefined
  /** The cost, in units, of everything received, according to the usage that the upstream reported. */
  #reported: number | undefined

  constructor(deps: RelayDeps, open: OpenCall, meter: StreamMeter) {
    this.#deps = deps
    this.#open = open
    this.#meter = meter
    this.#promptTokens = open.call.state.promptGuess
  }

  /** How much of the output has been sent to the caller. */
  get delivered(): Delivered {
    return { characters: this.#deliveredCharacters, media: this.#deliveredMedia }
  }

  /** Records that everything received has been sent. */
  noteDelivered(): void {
    this.#deliveredCharacters = this.#meter.characters
    this.#deliveredMedia = this.#meter.media
  }

  /** The cost, in units, of the output so far and of `marginTokens` more tokens. */
  units(marginTokens: number): number {
    if (this.#reported !== undefined) return this.#reported
    const textTokens = this.#tokens() + Math.ceil(marginTokens)
    const { media } = this.#meter
    if (!this.#prompt && !media) return this.#open.charging.soFar(this.#promptTokens, textTokens)
    const prompt = this.#prompt ?? { promptTokens: this.#promptTokens }
    const usage = { ...prompt, ...completionOf(textTokens, media) }
    return chargeOf(this.#open, { usage, estimated: true }).quota
  }

  /** The tokens for which `units` gives the cost. */
  get tokens(): { promptTokens: number; completionTokens: number } {
    const { completionTokens } = completionOf(this.#tokens(), this.#meter.media)
    const promptTokens = this.#prompt?.promptTokens ?? this.#promptTokens
    const before = this.#open.call.goesOn?.usage
    if (!before) return { promptTokens, completionTokens }
    return {
      promptTokens: promptTokens + before.promptTokens,
      completionTokens: completionTokens + before.completionTokens,
    }
  }

  /** True when some of the output so far has not been sent. */
  get hasUndelivered(): boolean {
    return this.#meter.characters > this.#deliveredCharacters || this.#meter.media !== this.#deliveredMedia
  }

  /** True when the output so far costs more than the hold. */
  get exceedsHold(): boolean {
    return this.units(0) > this.#open.hold.amount
  }

  /** True when the complete response costs more than the hold, according to the usage that the upstream reported. */
  async exceedsAtEnd(): Promise<boolean> {
    if (this.exceedsHold) await this.#believeReport()
    return this.exceedsHold
  }

  /**
   * True if the quota policy is `compat`: as in one-api, a response may then cost more than the remaining quota. After
   * this method has returned true, no more quota is requested.
   */
  mayOverdraw(): boolean {
    this.#isOverdrawn = this.#deps.settings().QuotaPolicy === 'compat'
    return this.#isOverdrawn
  }

  /** True when the output so far plus half a slice (`PreConsumedQuota` tokens) costs more than the hold. */
  needsMore(): boolean {
    if (this.#isOverdrawn) return false
    const { PreConsumedQuota } = this.#deps.settings()
    if (this.#prompt || this.#meter.media) return this.units(PreConsumedQuota / 2) > this.#open.hold.amount
    const tokens = this.#tokens() + Math.ceil(PreConsumedQuota / 2)
    if (tokens <= this.#paidTokens) return false
    const { charging, hold } = this.#open
    this.#paidTokens = charging.paidTokens(hold.amount, this.#promptTokens)
    return tokens > this.#paidTokens && charging.soFar(this.#promptTokens, tokens) > hold.amount
  }

  /**
   * Calculates the cost from the usage that the upstream reported, if the report has arrived and can be believed. Used
   * at the end of a stream.
   */
  async #believeReport(): Promise<void> {
    const { usage, reported, isReportEarly: isEarly } = this.#meter
    if ((usage ?? reported) === undefined) return
    const measurement = await measure(this.#deps, this.#open, {
      usage,
      reported,
      isEarly,
      output: () => this.#meter.output(),
      media: this.#meter.media,
    })
    this.#reported = chargeOf(this.#open, measurement.measure).quota
  }

  /** Counts the output so far instead of estimating it. */
  async count(): Promise<void> {
    const meter = this.#meter
    const { promptTokens, completionTokens } = await countUsage(this.#deps, this.#open, meter.output())
    this.#promptTokens = promptTokens
    this.#prompt = promptReport(meter)
    this.#paidTokens = -1
    const { pieces, characters, extraBytes } = meter
    this.#counted = { pieces, characters, extraBytes, tokens: completionTokens }
  }

  #tokens(): number {
    const { pieces, characters, extraBytes, tokens } = this.#counted
    const meter = this.#meter
    const estimate = quickTokens(meter.characters - characters, meter.extraBytes - extraBytes)
    return tokens + Math.max(meter.pieces - pieces, estimate)
  }
}
