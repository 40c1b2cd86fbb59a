import { EventMeter } from '../dialects/metering/event-meter.ts'
import type { StreamSignal } from '../dialects/neutral/dialect.ts'

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
