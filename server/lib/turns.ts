/**
 * Lets long work run in short steps. Each step waits for its turn, and only one turn is given in each round of the
 * event loop. Between turns, other work of the process (streams, timers, health checks) can run, however many steps are
 * waiting.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #isScheduled = false
  #count = 0

  /** The number of turns that have been given so far. */
  get count(): number {
    return this.#count
  }

  /** Resolves when the next step may run. */
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
      this.#count++
      this.#waiting.shift()?.()
      this.#schedule()
    })
  }
}
