import type { Clock } from '../../lib/clock.ts'
import { RunningClock } from '../../lib/running-clock.ts'

/** A wait of unknown length that wants to be told when it has lasted for some time. */
export interface DeadlineWait {
  /** When to be told, in milliseconds of the watch's clock; may be moved while watched. */
  dueAtMs: number
  due(): void
  /** The process is about to end, and whoever waits with it; absent where the wait may just be forgotten. */
  cut?(): void
  /** Its place among those that are watched; the watch's own. */
  place?: number | undefined
}

/**
 * One timer for all open streams: a timer of its own for each chunk of each stream would cost more than the chunk. It is
 * also the clock of all waits, which stands still while this process does: after a pause, everybody who is waited for
 * has as much time left as before it.
 */
export interface DeadlineWatch extends Clock {
  add(wait: DeadlineWait): void
  remove(wait: DeadlineWait): void
  /** Ends all waits that can be ended, and each that comes later. */
  cutAll(): void
  close(): void
}

export function createDeadlineWatch(wall: Clock, tickMs = 250): DeadlineWatch {
  const clock = new RunningClock(wall)
  // Not a Set: what was removed from one stays reachable from its outgrown tables until everything is collected.
  const waits: DeadlineWait[] = []
  const timer = setInterval(() => {
    const now = clock.nowMs()
    // From the end, because what is removed meanwhile is replaced by the last.
    for (let place = waits.length - 1; place >= 0; place--) {
      const wait = waits[place]
      if (wait && wait.dueAtMs <= now) wait.due()
    }
  }, tickMs)
  timer.unref()
  let isCut = false
  return {
    nowMs: () => clock.nowMs(),
    add(wait) {
      if (wait.place !== undefined) return
      wait.place = waits.length
      waits.push(wait)
      if (isCut) wait.cut?.()
    },
    remove(wait) {
      const { place } = wait
      if (place === undefined) return
      wait.place = undefined
      const last = waits.pop()
      if (!last || last === wait) return
      waits[place] = last
      last.place = place
    },
    cutAll() {
      isCut = true
      for (const wait of [...waits]) if (wait.place !== undefined) wait.cut?.()
    },
    close: () => clearInterval(timer),
  }
}
