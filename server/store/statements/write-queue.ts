import { isLocked } from './database-errors.ts'

/** The time that another program, such as a backup or a shell, may hold the lock before a write fails. */
const patienceMs = 10_000
const pollMs = 20
const anotherMs = 1_000

/** Runs one write at a time, in order of arrival. */
export interface WriteQueue {
  run<T>(work: () => Promise<T>): Promise<T>
  /** True if nothing runs or waits, so that synchronous work can run without queueing. */
  idle(): boolean
}

/**
 * A queue for all writes. SQLite has a single writer, and if a transaction stayed open across an `await`, it would
 * include the statements that the ledger sends on the same connection in the meantime. Every write therefore passes
 * through this queue. While another program holds the lock, writes wait and everything else continues. SQLite's own
 * waiting would stop the whole process.
 */
export function createWriteQueue(): WriteQueue {
  let tail: Promise<unknown> = Promise.resolve()
  let pending = 0
  /**
   * The times at which another program's lock was first and last seen. All waiting writes measure their time limit from
   * the first of these times.
   */
  let locked: { sinceMs: number; seenMs: number } | undefined

  /**
   * Runs `work` when the lock is free. Work begins by taking the lock, so if this fails, none of the work has been
   * done.
   */
  async function whenUnlocked<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const result = await work()
        locked = undefined
        return result
      } catch (error) {
        const nowMs = performance.now()
        // If no lock was seen for a while, this lock is a different one.
        const sinceMs = locked && nowMs - locked.seenMs < anotherMs ? locked.sinceMs : nowMs
        locked = isLocked(error) ? { sinceMs, seenMs: nowMs } : undefined
        if (!locked || nowMs - sinceMs > patienceMs) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }

  return {
    run(work) {
      pending++
      const result = tail.then(() => whenUnlocked(work))
      tail = result.then(
        () => pending--,
        () => pending--,
      )
      return result
    },
    idle: () => pending === 0,
  }
}
