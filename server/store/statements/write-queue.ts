import { isLocked } from './database-errors.ts'

/** If another program, such as a backup or a shell, holds the lock of the database for this long, writes fail. */
const patienceMs = 10_000
const pollMs = 20
const anotherMs = 1_000

/** Runs one write at a time, in order of arrival. */
export interface WriteQueue {
  run<T>(work: () => Promise<T>): Promise<T>
  /** True if no write is running or waiting. Synchronous work can then run without the queue. */
  idle(): boolean
}

/**
 * A queue for all writes to SQLite. All writes use one connection. Without the queue, a transaction that is open during
 * an `await` would also contain the statements that other code sends in the meantime. While another program holds the
 * lock of the database, writes wait here and the rest of the process continues. If SQLite itself waited for the lock,
 * it would block the whole process.
 */
export function createWriteQueue(): WriteQueue {
  let tail: Promise<unknown> = Promise.resolve()
  let pending = 0
  /**
   * The times at which a write first and last failed because another program holds the lock. The time limit of all
   * waiting writes starts at the first of these times.
   */
  let locked: { sinceMs: number; seenMs: number } | undefined

  /**
   * Runs `work`, and repeats it while another program holds the lock. It can be repeated, because it begins by taking
   * the lock and does nothing before that.
   */
  async function whenUnlocked<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const result = await work()
        locked = undefined
        return result
      } catch (error) {
        const nowMs = performance.now()
        // If the last failure was longer ago than `anotherMs`, this is another lock, and the time limit starts again.
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
