import type { JsonObject } from '../../lib/json.ts'
import type { StreamMeter, StreamSignal } from '../neutral/dialect.ts'
import type { Failure } from '../neutral/reply.ts'
import type { EventTally } from './event-tally.ts'

/**
 * Collects from the events of a conversation what is needed to calculate the charge. Subclasses read the events and
 * determine whether the answer is finished.
 */
export abstract class EventMeter implements StreamMeter {
  readonly endMark = ''
  readonly usage: JsonObject | undefined = undefined
  readonly error: JsonObject | undefined = undefined
  protected readonly tally: EventTally

  constructor(tally: EventTally) {
    this.tally = tally
  }

  abstract get finished(): boolean
  abstract get leftOut(): number
  abstract feed(data: string): StreamSignal

  get reported() {
    return this.tally.usage
  }

  get failure(): Failure | undefined {
    return this.tally.failure
  }

  get pieces(): number {
    return this.tally.pieces
  }

  get characters(): number {
    return this.tally.characters
  }

  get extraBytes(): number {
    return this.tally.extraBytes
  }

  get media() {
    return this.tally.media
  }

  get isReportEarly(): boolean {
    return this.tally.isUsageEarly
  }

  get answered(): boolean {
    return this.tally.answered
  }

  output(): string {
    return this.tally.output()
  }

  skim(_text: string, from: number): number {
    return from
  }
}
