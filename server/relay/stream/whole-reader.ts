import { EventTally } from '../../dialects/metering/event-tally.ts'
import { TalliedMeter } from '../../dialects/metering/tallied-meter.ts'
import type { StreamEvent } from '../../dialects/neutral/reply.ts'
import type { StreamPiece, StreamReader, WriteEnd } from './stream-reader.ts'

/**
 * Reads a complete response for a caller who requested a stream. As for any stream, quota is held only for the first
 * part of the response. The response is therefore returned as a single last piece, which is sent only after it has been
 * charged.
 */
export class WholeReader implements StreamReader {
  readonly meter: TalliedMeter
  readonly #piece: StreamPiece

  /** `text` contains the events in the caller's dialect, without the end. */
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

  /** Does nothing, because everything has been read. */
  cancel(): void {}
  drain(): void {}
  hurry(): void {}
}
