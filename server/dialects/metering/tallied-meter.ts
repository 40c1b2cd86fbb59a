import type { StreamSignal } from '../neutral/dialect.ts'
import { EventMeter } from './event-meter.ts'

/** A meter for events that the reader has already tallied. */
export class TalliedMeter extends EventMeter {
  /**
   * The upstream closed the stream without its dialect's end, so a stop reason alone does not make the answer complete.
   */
  isCut = false
  leftOut = 0

  get finished(): boolean {
    return this.tally.stopped && !this.isCut
  }

  /** All events arrive through the reader, never through this method. */
  feed(): StreamSignal {
    return 'garbage'
  }
}
