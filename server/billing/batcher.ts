import type { LedgerOp, LedgerResult, LedgerStore } from '../store/schema/ledger-types.ts'
import { isRefusal } from '../store/statements/without-effect.ts'

interface Waiting {
  op: LedgerOp
  resolve(result: LedgerResult): void
  reject(error: unknown): void
}

/** Group commit: whatever queues up while one batch is being written goes into the next. */
export interface Batcher {
  /** Resolves when the operation is durable; rejects if the database rejected it. */
  push(op: LedgerOp): Promise<LedgerResult>
  /** Operations not yet durable. */
  pending(): number
}

/** Maximum operations per transaction, so that the first operations of a burst need not wait for the last. */
const largestBatch = 512

/**
 * Batches operations for one store. If a whole batch is rejected, its operations are tried again one by one, so that
 * only the bad one fails.
 */
export function createBatcher(store: LedgerStore): Batcher {
  let queue: Waiting[] = []
  let running = false
  let inFlight = 0

  function schedule(): void {
    if (running || queue.length === 0) return
    running = true
    // Everything that arrives in this turn of the event loop joins the batch.
    setImmediate(() => void flush())
  }

  async function flush(): Promise<void> {
    const batch = queue.length > largestBatch ? queue.splice(0, largestBatch) : queue
    if (batch === queue) queue = []
    inFlight = batch.length
    try {
      const results = await store.apply(batch.map((each) => each.op))
      for (const [index, each] of batch.entries()) each.resolve(results[index] as LedgerResult)
    } catch (error) {
      // It is only worth finding the bad operation if the batch was rejected because of its content. An unreachable
      // database rejects every operation.
      if (batch.length > 1 && isRefusal(error)) for (const each of batch) await alone(each)
      else for (const each of batch) each.reject(error)
    }
    inFlight = 0
    running = false
    schedule()
  }

  async function alone(each: Waiting): Promise<void> {
    try {
      const [result] = await store.apply([each.op])
      each.resolve(result as LedgerResult)
    } catch (error) {
      each.reject(error)
    }
  }

  return {
    push: (op) =>
      new Promise((resolve, reject) => {
        queue.push({ op, resolve, reject })
        schedule()
      }),
    pending: () => queue.length + inFlight,
  }
}
