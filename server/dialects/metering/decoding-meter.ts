import { ForgivingDecoder } from '../damaged-events/forgiving-decoder.ts'
import type { StreamSignal, UpstreamDialect } from '../neutral/dialect.ts'
import { unreadable } from '../neutral/failure.ts'
import type { Failure } from '../neutral/reply.ts'
import { EventMeter } from './event-meter.ts'
import { EventTally } from './event-tally.ts'

/** Meters a stream that is passed on unchanged. It reads the events with the decoder of the stream's dialect. */
export class DecodingMeter extends EventMeter {
  readonly #decoder: ForgivingDecoder
  readonly #hasEndMark: boolean

  /** `idSeed` is used to create ids where the dialect has none. */
  constructor(dialect: UpstreamDialect, idSeed: string) {
    super(new EventTally())
    this.#decoder = new ForgivingDecoder(dialect.streamDecoder(idSeed))
    // If the dialect has an end marker, an answer without it is incomplete, even if it has a stop reason.
    this.#hasEndMark = !dialect.endsByReason
  }

  get finished(): boolean {
    return this.tally.ended || (!this.#hasEndMark && this.tally.stopped)
  }

  get leftOut(): number {
    return this.#decoder.leftOut
  }

  get speaks(): boolean {
    return this.tally.pieces > 0 || this.media !== undefined || this.tally.stopped || this.tally.ended
  }

  failedEnd(failure: Failure, requestId: string): string {
    return this.#decoder.failedEnd(failure, requestId)
  }

  feed(data: string): StreamSignal {
    const events = this.#decoder.push(data)
    if (!events) return 'skip'
    for (const event of events) this.tally.take(event)
    const { failure, ended } = this.tally
    if (failure) return failure === unreadable ? 'garbage' : 'error'
    return ended ? 'done' : 'content'
  }
}
