import type { StreamEvent } from '../neutral/reply.ts'

/** An event of one part of an answer. */
export type PartEvent = Extract<StreamEvent, { index: number }>

/** A part that waits for its block, and its events. All that waits is numbered in the order it came. */
export interface WaitingPart {
  /** Its number among the parts that have waited. */
  readonly at: number
  readonly place: number
  readonly events: { readonly place: number; readonly event: PartEvent }[]
}

/** The parts that wait, in the order of their starts. Nothing is walked again, however many there are. */
export class WaitingParts {
  readonly #byNumber = new Map<number, WaitingPart>()
  readonly #parts: (WaitingPart | undefined)[] = []
  readonly #places: number[] = []
  /** For each part the next in the list that may wait still: itself until it is taken. */
  readonly #nearest: number[] = []
  #count = 0

  /** Nothing is kept of a part that has not begun. */
  add(event: PartEvent): void {
    const place = this.#count++
    const found = this.#byNumber.get(event.index)
    if (found) found.events.push({ place, event })
    if (found || event.type !== 'part') return
    const part = { at: this.#parts.length, place, events: [{ place, event }] }
    this.#byNumber.set(event.index, part)
    this.#nearest.push(this.#parts.length)
    this.#parts.push(part)
    this.#places.push(place)
  }

  /** The first part that began behind `place` and waits still. */
  after(place: number): WaitingPart | undefined {
    let low = 0
    let high = this.#places.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#places[middle] ?? 0) > place) high = middle
      else low = middle + 1
    }
    return this.#parts[this.#waitingFrom(low)]
  }

  take({ at, events: [first] }: WaitingPart): void {
    if (first) this.#byNumber.delete(first.event.index)
    this.#parts[at] = undefined
    this.#nearest[at] = at + 1
  }

  /** The first from `at` on that waits still; what is skipped for it is skipped at once the next time. */
  #waitingFrom(at: number): number {
    let found = at
    while ((this.#nearest[found] ?? found) !== found) found = this.#nearest[found] ?? found
    for (let each = at; each < found; ) {
      const next = this.#nearest[each] ?? found
      this.#nearest[each] = found
      each = next
    }
    return found
  }
}
