import type { JsonObject } from '../lib/json.ts'
import type { StreamDecoder, StreamMeter, StreamSignal, UpstreamDialect } from './dialect.ts'
import { EventTally } from './event-tally.ts'
import { decoded, unreadable } from './failure.ts'
import type { Failure } from './reply.ts'

/** Follows a stream that is passed on as it comes, by the decoder of its dialect. */
export class DecodingMeter implements StreamMeter {
  readonly endMark = ''
  readonly usage: JsonObject | undefined = undefined
  readonly error: JsonObject | undefined = undefined
  readonly #decoder: StreamDecoder
  readonly #hasEndMark: boolean
  readonly #tally = new EventTally()

  /** `idSeed` makes ids where the dialect has none. */
  constructor(dialect: UpstreamDialect, idSeed: string) {
    this.#decoder = dialect.streamDecoder(idSeed)
    // Without its last event an answer is broken off, whatever came before.
    this.#hasEndMark = !dialect.endsByReason
  }

  get reported() {
    return this.#tally.usage
  }

  get failure(): Failure | undefined {
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
    return this.#tally.ended || (!this.#hasEndMark && this.#tally.stopped)
  }

  get speaks(): boolean {
    return this.#tally.pieces > 0 || this.media !== undefined || this.#tally.stopped || this.#tally.ended
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

  feed(data: string): StreamSignal {
    for (const event of decoded(this.#decoder, data)) this.#tally.take(event)
    const { failure, ended } = this.#tally
    if (failure) return failure === unreadable ? 'garbage' : 'error'
    return ended ? 'done' : 'content'
  }
}
