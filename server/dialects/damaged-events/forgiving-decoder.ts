import type { StreamDecoder } from '../neutral/dialect.ts'
import { unreadable, unreadableEvent } from '../neutral/failure.ts'
import type { Failure, StreamEvent } from '../neutral/reply.ts'
import { CallInputs } from './call-inputs.ts'
import { UnreadableEvents } from './unreadable-events.ts'

/** The result for an event that could be read but not processed. Such an event is never skipped. */
const tooDeep: readonly StreamEvent[] = [{ type: 'error', failure: unreadable }]

/** A decoder that skips an unreadable event if the answer can continue without it. */
export class ForgivingDecoder {
  readonly #decoder: StreamDecoder
  readonly #unreadable = new UnreadableEvents()
  /** True once a stop reason has arrived. After that, only the usage and the end are expected. */
  #hasStopped = false
  /** True once usage has arrived with a stop reason or after one. */
  #hasUsage = false
  /** True if the part that began most recently is a call. */
  #isCalling = false
  /** The index of the last part that has begun, for each choice. */
  readonly #begun = new Map<number, number>()
  readonly #inputs = new CallInputs()

  constructor(decoder: StreamDecoder) {
    this.#decoder = decoder
  }

  /** The number of skipped events. */
  get leftOut(): number {
    return this.#unreadable.count
  }

  /**
   * The content of an event; undefined if the event is skipped. The error `unreadable` ends the answer. It is returned
   * for an event that cannot be skipped safely and for JSON that is nested too deeply to be serialized again. It is
   * also returned at the end of an answer if the stop reason or the usage may be missing. Errors in our own code are
   * thrown.
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

  /**
   * Ends the input. `rest` is the text after the last complete event. A truncated `rest` is ignored, because no event
   * follows it.
   */
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

  /**
   * Rejects the end of an answer if its stop reason or usage may have been in a skipped event. Also rejects any event
   * that continues a skipped one.
   */
  #checked(events: readonly StreamEvent[]): readonly StreamEvent[] {
    let isIncomplete = false
    let tellsUsage = false
    for (const event of events) {
      if (event.type === 'usage') tellsUsage = true
      else if (this.#revealsGap(event)) isIncomplete = true
    }
    this.#hasUsage ||= tellsUsage && this.#hasStopped
    const { hasGap, hasLateGap } = this.#unreadable
    if (!hasGap) return events
    const mayLack = !this.#hasStopped || (hasLateGap && !this.#hasUsage)
    return isIncomplete || (mayLack && events.some(({ type }) => type === 'end')) ? [unreadableEvent] : events
  }

  /**
   * Tracks the position in the answer. Returns true for an event that continues a part although the part never began,
   * or that ends a part although a piece of it is missing.
   */
  #revealsGap(event: StreamEvent): boolean {
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
