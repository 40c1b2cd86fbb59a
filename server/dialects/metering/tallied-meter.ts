import type { StreamSignal } from '../neutral/dialect.ts'
import { EventMeter } from './event-meter.ts'

/** For events that the reader has tallied. */
export class TalliedMeter extends EventMeter {
  /** The upstream closed without its dialect's end: a stop reason alone does not make the answer complete. */
  isCut = false
  leftOut = 0

  get finished(): boolean {
    return this.tally.stopped && !this.isCut
  }

  /** Everything comes through the reader. */
  feed(): StreamSignal {
    return 'garbage'
  }
}
