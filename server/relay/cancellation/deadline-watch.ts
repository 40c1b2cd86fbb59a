import { type Clock, RunningClock } from '../../lib/clock.ts'

/** A wait of unknown length that is called back once it has lasted for some time. */
export interface DeadlineWait {
  /** When to call `due`, in milliseconds of the watch's clock; may be changed while watched. */
  dueAtMs: number
  due(): void
  /** The process is about to end, and the waiting code with it; absent if the wait may simply be forgotten. */
  cut?(): void
  /** Its index among the watched waits, used only by the watch. */
  place?: number | undefined
}

/**
 * One timer for all open streams: a timer for each chunk of each stream would cost more than the chunk. It is also the
 * clock of all waits, which stops while this process is paused: after a pause, every wait has as much time left as
 * before.
 */
export interface DeadlineWatch extends Clock {
  add(wait: DeadlineWait): void
  remove(wait: DeadlineWait): void
  /** Ends all waits that can be ended, and any added later. */
  cutAll(): void
  close(): void
}

export function createDeadlineWatch(wall: Clock, tickMs = 250): DeadlineWatch {
  const clock = new RunningClock(wall)
  // Not a Set: removed entries stay reachable from its outgrown tables until a full garbage collection.
  const waits: DeadlineWait[] = []
  const timer = setInterval(() => {
    const now = clock.nowMs()
    // Backwards, because an entry removed during the loop is replaced by the last one.
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
