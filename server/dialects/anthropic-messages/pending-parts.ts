import type { StreamEvent } from '../neutral/reply.ts'

/** An event that belongs to one part of an answer. */
export type PartEvent = Extract<StreamEvent, { index: number }>

/**
 * A part that waits for its block to be opened, and the events of that part. `order` numbers all waiting events,
 * including the start of each part, in order of arrival.
 */
export interface WaitingPart {
  /** The part's index among all parts that wait or have waited. */
  readonly at: number
  readonly order: number
  readonly events: { readonly order: number; readonly event: PartEvent }[]
}

/**
 * The waiting parts, in the order in which they started. A search for the next waiting part skips parts that were
 * already taken. Later searches jump over these parts.
 */
export class WaitingParts {
  readonly #byNumber = new Map<number, WaitingPart>()
  readonly #parts: (WaitingPart | undefined)[] = []
  readonly #orders: number[] = []
  /**
   * For each part, the index at which the search for a waiting part continues. For a part that is waiting, this is its
   * own index.
   */
  readonly #nearest: number[] = []
  #count = 0

  /** Adds an event to its part. An event of a part that has not begun is dropped. */
  add(event: PartEvent): void {
    const order = this.#count++
    const known = this.#byNumber.get(event.index)
    if (known) known.events.push({ order, event })
    if (known || event.type !== 'part') return
    const part = { at: this.#parts.length, order, events: [{ order, event }] }
    this.#byNumber.set(event.index, part)
    this.#nearest.push(this.#parts.length)
    this.#parts.push(part)
    this.#orders.push(order)
  }

  /** The first waiting part whose order number is higher than `order`. */
  after(order: number): WaitingPart | undefined {
    let low = 0
    let high = this.#orders.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#orders[middle] ?? 0) > order) high = middle
      else low = middle + 1
    }
    return this.#parts[this.#waitingFrom(low)]
  }

  take({ at, events: [first] }: WaitingPart): void {
    if (first) this.#byNumber.delete(first.event.index)
    this.#parts[at] = undefined
    this.#nearest[at] = at + 1
  }

  /**
   * The index of the first waiting part at index `at` or later. The next search jumps over all parts that this search
   * has skipped.
   */
  #waitingFrom(at: number): number {
    let waitingAt = at
    while ((this.#nearest[waitingAt] ?? waitingAt) !== waitingAt) waitingAt = this.#nearest[waitingAt] ?? waitingAt
    for (let each = at; each < waitingAt; ) {
      const next = this.#nearest[each] ?? waitingAt
      this.#nearest[each] = waitingAt
      each = next
    }
    return waitingAt
  }
}
