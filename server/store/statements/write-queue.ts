import { isLocked } from './database-errors.ts'

/** How long another program, such as a backup or a shell, may hold the lock before a write fails. */
const patienceMs = 10_000
const pollMs = 20
const anotherMs = 1_000

/** Runs one write at a time, in order of arrival. */
export interface WriteQueue {
  run<T>(work: () => Promise<T>): Promise<T>
  /** True if nothing runs or waits, so that synchronous work may go ahead without queueing. */
  idle(): boolean
}

/**
 * SQLite has one writer. A transaction left open across an `await` would swallow the statements that the ledger sends
 * on the same connection in the meantime, so every write passes through here. While another program holds the lock,
 * writing waits and everything else goes on; SQLite's own wait would stop the whole process.
 */
export function createWriteQueue(): WriteQueue {
  let tail: Promise<unknown> = Promise.resolve()
  let pending = 0
  /** When another program's lock was first and last encountered; everything that waits shares the same patience. */
  let locked: { sinceMs: number; seenMs: number } | undefined

  /** Work begins by taking the lock, so none of it has happened if that fails. */
  async function whenUnlocked<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const result = await work()
        locked = undefined
        return result
      } catch (error) {
        const nowMs = performance.now()
        // If it was not encountered for a while, it is another lock.
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
