import { type Clock, RunningClock } from '../../lib/clock.ts'

/** A wait of unknown length, with a callback for when it has lasted too long. */
export interface DeadlineWait {
  /** When to call `due`, in milliseconds on the watch's clock. May be changed while the wait is watched. */
  dueAtMs: number
  due(): void
  /**
   * Called when the process is about to end, so that the waiting code can finish. Absent if the wait can be abandoned.
   */
  cut?(): void
  /** The index of this wait among the watched waits, used only by the watch. */
  watchIndex?: number | undefined
}

/**
 * One timer for all open streams, because a timer for each chunk of each stream would cost more than handling the
 * chunk. It is also the clock for all waits. The clock stops while this process is paused, so every wait has as much
 * time left after a pause as before it.
 *
 * When no call has been open for a while, the timer stops. The clock then also stops until the next call.
 */
export interface DeadlineWatch extends Clock {
  /** Keeps the clock running for a call, until `end` is called. The clock also runs as long as a wait is watched. */
  begin(): void
  end(): void
  add(wait: DeadlineWait): void
  remove(wait: DeadlineWait): void
  /** Ends all waits that have `cut`, including those that are added later. */
  cutAll(): void
  /** The longest delay of the event loop, in milliseconds, since the last call of this method. */
  longestLagMs(): number
  close(): void
}

const usualTickMs = 250
/** Ticks without a call after which the timer stops: half a minute. */
const mostIdleTicks = 120

export function createDeadlineWatch(wall: Clock, tickMs = usualTickMs): DeadlineWatch {
  return new TickingWatch(wall, tickMs)
}

class TickingWatch implements DeadlineWatch {
  readonly #clock: RunningClock
  readonly #tickMs: number
  // An array, because a Set that has grown keeps its removed entries in memory until a full garbage collection.
  readonly #waits: DeadlineWait[] = []
  #timer: ReturnType<typeof setInterval> | undefined
  #isClosed = false
  #isCut = false
  #begun = 0
  #idleTicks = 0
  #tickedAtMs = 0
  #longestLagMs = 0

  constructor(wall: Clock, tickMs: number) {
    this.#clock = new RunningClock(wall)
    this.#tickMs = tickMs
  }

  nowMs(): number {
    return this.#clock.nowMs()
  }

  begin(): void {
    this.#begun++
    if (!this.#timer) this.#start()
  }

  end(): void {
    this.#begun--
  }

  add(wait: DeadlineWait): void {
    if (wait.watchIndex !== undefined) return
    if (!this.#timer) this.#start()
    wait.watchIndex = this.#waits.length
    this.#waits.push(wait)
    if (this.#isCut) wait.cut?.()
  }

  remove(wait: DeadlineWait): void {
    const { watchIndex: index } = wait
    if (index === undefined) return
    wait.watchIndex = undefined
    const last = this.#waits.pop()
    if (!last || last === wait) return
    this.#waits[index] = last
    last.watchIndex = index
  }

  cutAll(): void {
    this.#isCut = true
    for (const wait of [...this.#waits]) if (wait.watchIndex !== undefined) wait.cut?.()
  }

  longestLagMs(): number {
    const longest = this.#longestLagMs
    this.#longestLagMs = 0
    return longest
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
  }

  #start(): void {
    if (this.#isClosed) return
    // Reads the clock once, so that the time since the timer stopped counts as a pause.
    this.#clock.nowMs()
    this.#idleTicks = 0
    this.#tickedAtMs = performance.now()
    this.#timer = setInterval(() => this.#tick(), this.#tickMs)
    this.#timer.unref()
  }

  #tick(): void {
    const sinceTickMs = performance.now() - this.#tickedAtMs
    this.#tickedAtMs += sinceTickMs
    this.#longestLagMs = Math.max(this.#longestLagMs, sinceTickMs - this.#tickMs)
    const now = this.#clock.nowMs()
    const waits = this.#waits
    // Iterates backwards, because an entry removed during the loop is replaced by the last entry.
    for (let index = waits.length - 1; index >= 0; index--) {
      const wait = waits[index]
      if (wait && wait.dueAtMs <= now) wait.due()
    }
    this.#idleTicks = this.#begun > 0 || waits.length > 0 ? 0 : this.#idleTicks + 1
    if (this.#idleTicks < mostIdleTicks) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
