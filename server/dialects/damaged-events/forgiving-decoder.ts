import type { StreamDecoder } from '../neutral/dialect.ts'
import { unreadable, unreadableEvent } from '../neutral/failure.ts'
import type { Failure, StreamEvent } from '../neutral/reply.ts'
import { CallInputs } from './call-inputs.ts'
import { UnreadableEvents } from './unreadable-events.ts'

/** Of an event that was read and cannot be used: it is not left out. */
const tooDeep: readonly StreamEvent[] = [{ type: 'error', failure: unreadable }]

/** A decoder that leaves out an event that cannot be read, where the answer may go on without it. */
export class ForgivingDecoder {
  readonly #decoder: StreamDecoder
  readonly #unreadable = new UnreadableEvents()
  /** An answer has given its reason to stop: usage and end are due. */
  #hasStopped = false
  /** The usage was told with a reason to stop or behind one. */
  #hasUsage = false
  /** The part that began last is a call. */
  #isCalling = false
  /** Parts that have begun, by the answer they are of. */
  readonly #begun = new Map<number, number>()
  readonly #inputs = new CallInputs()

  constructor(decoder: StreamDecoder) {
    this.#decoder = decoder
  }

  /** Events that were left out. */
  get leftOut(): number {
    return this.#unreadable.count
  }

  /**
   * What an event says; undefined = it is left out. The error `unreadable` ends an answer: an event that may matter, JSON
   * that is too deep to be written again, or an end that may lack its reason or usage. Throws what is a fault of ours.
   */
  push(data: string): readonly StreamEvent[] | undefined {
    const events = this.#decoded(data)
    const [first] = events
    if (first === unreadableEvent) {
      const where = { isLate: this.#hasStopped, isCalling: this.#isCalling }
      if (!this.#unreadable.mayLeaveOut(data, where)) return events
      this.#inputs.noteGap()
      return undefined
    }
    if (first !== undefined || data.trim() !== '') this.#unreadable.noteRead()
    return this.#checked(events)
  }

  /** No more comes. `rest`: what stands behind the last event; torn off, it tells nothing and is missed by nobody. */
  finish(rest = ''): readonly StreamEvent[] {
    return this.#checked([
      ...this.#decoded(rest).filter((event) => event !== unreadableEvent),
      ...this.#decoder.finish(),
    ])
  }

  failedEnd(failure: Failure, requestId: string): string {
    return this.#decoder.failedEnd?.(failure, requestId) ?? ''
  }

  #decoded(data: string): readonly StreamEvent[] {
    try {
      return this.#decoder.push(data)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return tooDeep
    }
  }

  /** No end is believed whose reason or usage may have been in what was left out, and nothing that goes on from what was. */
  #checked(events: readonly StreamEvent[]): readonly StreamEvent[] {
    let isTorn = false
    let tellsUsage = false
    for (const event of events) {
      if (event.type === 'usage') tellsUsage = true
      else if (this.#tears(event)) isTorn = true
    }
    this.#hasUsage ||= tellsUsage && this.#hasStopped
    const { hasGap, hasLateGap } = this.#unreadable
    if (!hasGap) return events
    const mayLack = !this.#hasStopped || (hasLateGap && !this.#hasUsage)
    return isTorn || (mayLack && events.some(({ type }) => type === 'end')) ? [unreadableEvent] : events
  }

  /** Notes where the answer stands; true for an event that goes on from one that never came, or ends what lacks a piece. */
  #tears(event: StreamEvent): boolean {
    switch (event.type) {
      case 'part': {
        const { choice, index, part } = event
        this.#begun.set(choice, index)
        this.#isCalling = part.type === 'tool-call'
        if (part.type !== 'tool-call') return false
        this.#inputs.begin(keyOf(event), part.freeform === true)
        this.#inputs.add(keyOf(event), part.input)
        return part.name === ''
      }
      case 'delta':
        if (this.#isCalling) this.#inputs.add(keyOf(event), event.text)
        return event.index > (this.#begun.get(event.choice) ?? -1)
      case 'part-end':
        return this.#inputs.end(keyOf(event))
      case 'stop':
        this.#hasStopped = true
        return this.#inputs.end()
      case 'end':
        return this.#inputs.end()
      default:
        return false
    }
  }
}

function keyOf({ choice, index }: { choice: number; index: number }): string {
  return `${choice} ${index}`
}
