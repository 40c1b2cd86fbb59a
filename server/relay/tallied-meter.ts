import type { StreamMeter, StreamSignal } from '../dialects/dialect.ts'
import type { EventTally } from '../dialects/event-tally.ts'
import type { JsonObject } from '../lib/json.ts'

/** What the events of a conversation have said, as the charge asks for it. */
export class TalliedMeter implements StreamMeter {
  /** The upstream went without its dialect's end: a reason to stop alone does not make the answer whole. */
  isCut = false
  readonly endMark = ''
  readonly usage: JsonObject | undefined = undefined
  readonly error: JsonObject | undefined = undefined
  readonly #tally: EventTally

  constructor(tally: EventTally) {
    this.#tally = tally
  }

  get reported() {
    return this.#tally.usage
  }

  get failure() {
    return this.#tally.failure
  }

  get pieces(): number {
    return this.#tally.pieces
  }

  get characters(): number {
    return this.#tally.characters
  }

  get extraBytes(): number {
    return this.#tally.extraBytes
  }

  get media() {
    return this.#tally.media
  }

  get finished(): boolean {
    return this.#tally.stopped && !this.isCut
  }

  get isReportEarly(): boolean {
    return this.#tally.isUsageEarly
  }

  get answered(): boolean {
    return this.#tally.answered
  }

  output(): string {
    return this.#tally.output()
  }

  skim(_text: string, from: number): number {
    return from
  }

  /** Everything comes through the reader. */
  feed(): StreamSignal {
    return 'garbage'
  }
}
