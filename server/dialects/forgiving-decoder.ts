import type { StreamDecoder } from './dialect.ts'
import { unreadable, unreadableEvent } from './failure.ts'
import type { Failure, StreamEvent } from './reply.ts'
import { UnreadableEvents } from './unreadable-events.ts'

/** Of an event that was read and cannot be used: it is not left out. */
const tooDeep: readonly StreamEvent[] = [{ type: 'error', failure: unreadable }]

/** A decoder that leaves out an event that cannot be read, where the answer may go on without it. */
export class ForgivingDecoder {
  readonly #decoder: StreamDecoder
  readonly #unreadable = new UnreadableEvents()
  /** An answer has given its reason to stop: usage and end are due. */
  #hasStopped = false
  #hasUsage = false

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
    if (first === unreadableEvent) return this.#unreadable.mayLeaveOut(data, this.#hasStopped) ? undefined : events
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

  /** No end is believed whose reason or usage may have been in what was left out. */
  #checked(events: readonly StreamEvent[]): readonly StreamEvent[] {
    for (const { type } of events) {
      if (type === 'stop') this.#hasStopped = true
      if (type === 'usage') this.#hasUsage = true
    }
    const { count, hasLateGap } = this.#unreadable
    const mayLack = (count > 0 && !this.#hasStopped) || (hasLateGap && !this.#hasUsage)
    return mayLack && events.some(({ type }) => type === 'end') ? [unreadableEvent] : events
  }
}
