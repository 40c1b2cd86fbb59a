import type { StreamSignal } from '../neutral/dialect.ts'
import { EventMeter } from './event-meter.ts'

/** A meter for events that the reader has already tallied. */
export class TalliedMeter extends EventMeter {
  /**
   * True if the upstream closed the stream without the end marker of its dialect. A stop reason alone then does not
   * make the answer complete.
   */
  isCut = false
  leftOut = 0

  get finished(): boolean {
    return this.tally.stopped && !this.isCut
  }

  /** Never called with an event, because the reader has already tallied all events. */
  feed(): StreamSignal {
    return 'garbage'
  }
}
