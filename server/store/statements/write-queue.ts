import { isLocked } from './database-errors.ts'

/** Another program may hold the lock for this long, a backup or a shell say, before writing fails. */
const patienceMs = 10_000
const pollMs = 20
const anotherMs = 1_000

/** Runs one piece of writing work at a time, in order of arrival. */
export interface WriteQueue {
  run<T>(work: () => Promise<T>): Promise<T>
  /** True when nothing runs or waits, so that synchronous work may go ahead without queueing. */
  idle(): boolean
}

/**
 * SQLite has one writer. A transaction left open across an `await` would swallow the statements that the ledger sends
 * on the same connection meanwhile, so every write passes here. Where another program holds the lock, writing waits and
 * everything else goes on; SQLite itself would stop the whole process for as long.
 */
export function createWriteQueue(): WriteQueue {
  let tail: Promise<unknown> = Promise.resolve()
  let pending = 0
  /** When another program's lock was first and last met, as far as is known: all that waits has the same patience. */
  let locked: { sinceMs: number; seenMs: number } | undefined

  /** Work begins with taking the lock, so that none of it has happened when that fails. */
  async function whenUnlocked<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const result = await work()
        locked = undefined
        return result
      } catch (error) {
        const nowMs = performance.now()
        // Not met for a time, it is another lock.
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
