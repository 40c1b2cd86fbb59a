/** Runs one piece of writing work at a time, in order of arrival. */
export interface WriteQueue {
  run<T>(work: () => Promise<T>): Promise<T>
  /** True when nothing runs or waits, so that synchronous work may go ahead without queueing. */
  idle(): boolean
}

/**
 * SQLite has one writer. A transaction left open across an `await` would swallow the statements that the ledger sends
 * on the same connection meanwhile, so every write passes here.
 */
export function createWriteQueue(): WriteQueue {
  let tail: Promise<unknown> = Promise.resolve()
  let pending = 0
  return {
    run(work) {
      pending++
      const result = tail.then(work)
      tail = result.then(
        () => pending--,
        () => pending--,
      )
      return result
    },
    idle: () => pending === 0,
  }
}
