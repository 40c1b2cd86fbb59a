/**
 * Long work done in short steps. Before each step it waits for its turn, and turns are given one for each round of the
 * event loop, so that what else the process does (streams, timers, health checks) comes in between however many do so.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #isScheduled = false
  #given = 0

  /** How many turns were given so far. */
  get given(): number {
    return this.#given
  }

  /** Resolves when the next step may be done. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#given++
      this.#waiting.shift()?.()
      this.#schedule()
    })
  }
}
