import { type Clock, RunningClock } from '../../lib/clock.ts'

/** A wait of unknown length, with a callback for when it has lasted too long. */
export interface DeadlineWait {
  /** When to call `due`, in milliseconds on the watch's clock. May be changed while the wait is watched. */
  dueAtMs: number
  due(): void
  /**
   * Called when the process is about to end and the waiting code must end with it. Absent if the wait can be abandoned.
   */
  cut?(): void
  /** Its index among the watched waits, used only by the watch. */
  watchIndex?: number | undefined
}

/**
 * One timer for all open streams, because a timer for each chunk of each stream would cost more than the chunk. It is
 * also the clock of all waits. That clock stops while this process is paused, so every wait has as much time left after
 * a pause as before it.
 */
export interface DeadlineWatch extends Clock {
  add(wait: DeadlineWait): void
  remove(wait: DeadlineWait): void
  /** Ends all waits that can be ended, and any added later. */
  cutAll(): void
  /** The longest delay of the event loop since this was last called. */
  longestLagMs(): number
  close(): void
}

export function createDeadlineWatch(wall: Clock, tickMs = 250): DeadlineWatch {
  const clock = new RunningClock(wall)
  // Not a Set, because the removed entries of a Set stay reachable from its outgrown tables until a full garbage
  // collection.
  const waits: DeadlineWait[] = []
  let tickedAtMs = performance.now()
  let longestLagMs = 0
  const timer = setInterval(() => {
    const tickMsAgo = performance.now() - tickedAtMs
    tickedAtMs += tickMsAgo
    longestLagMs = Math.max(longestLagMs, tickMsAgo - tickMs)
    const now = clock.nowMs()
    // Iterates backwards, because an entry removed during the loop is replaced by the last entry.
    for (let index = waits.length - 1; index >= 0; index--) {
      const wait = waits[index]
      if (wait && wait.dueAtMs <= now) wait.due()
    }
  }, tickMs)
  timer.unref()
  let isCut = false
  return {
    nowMs: () => clock.nowMs(),
    add(wait) {
      if (wait.watchIndex !== undefined) return
      wait.watchIndex = waits.length
      waits.push(wait)
      if (isCut) wait.cut?.()
    },
    remove(wait) {
      const { watchIndex: index } = wait
      if (index === undefined) return
      wait.watchIndex = undefined
      const last = waits.pop()
      if (!last || last === wait) return
      waits[index] = last
      last.watchIndex = index
    },
    cutAll() {
      isCut = true
      for (const wait of [...waits]) if (wait.watchIndex !== undefined) wait.cut?.()
    },
    longestLagMs() {
      const longest = longestLagMs
      longestLagMs = 0
      return longest
    },
    close: () => clearInterval(timer),
  }
}
