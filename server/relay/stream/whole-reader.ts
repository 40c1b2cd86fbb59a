import { EventTally } from '../../dialects/metering/event-tally.ts'
import { TalliedMeter } from '../../dialects/metering/tallied-meter.ts'
import type { StreamEvent } from '../../dialects/neutral/reply.ts'
import type { StreamPiece, StreamReader, WriteEnd } from './stream-reader.ts'

/**
 * An answer that came whole, for a caller who asked for a stream and for whom no more was held than a stream begins with:
 * one last piece, which goes out when it is paid.
 */
export class WholeReader implements StreamReader {
  readonly meter: TalliedMeter
  readonly #piece: StreamPiece

  /** `text`: the events in the caller's dialect, but for the end. */
  constructor(events: readonly StreamEvent[], text: string, end: WriteEnd) {
    const tally = new EventTally()
    for (const event of events) tally.take(event)
    this.meter = new TalliedMeter(tally)
    this.#piece = { kind: 'last', bytes: new TextEncoder().encode(text), outcome: 'done', end }
  }

  ask(answer: (piece: StreamPiece) => void): void {
    answer(this.#piece)
  }

  async next(): Promise<StreamPiece> {
    return this.#piece
  }

  /** Everything has been read. */
  cancel(): void {}
  drain(): void {}
  hurry(): void {}
}
