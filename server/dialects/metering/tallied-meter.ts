import type { StreamSignal } from '../neutral/dialect.ts'
import { EventMeter } from './event-meter.ts'

/** Of events that the reader has tallied. */
export class TalliedMeter extends EventMeter {
  /** The upstream went without its dialect's end: a reason to stop alone does not make the answer whole. */
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
