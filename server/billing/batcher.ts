import type { LedgerOp, LedgerResult, LedgerStore } from '../store/schema/ledger-types.ts'
import { isRefusal } from '../store/statements/without-effect.ts'

interface Waiting {
  op: LedgerOp
  resolve(result: LedgerResult | undefined): void
  reject(error: unknown): void
}

/**
 * Writes ledger operations in batches, one transaction per batch. Operations that arrive while a batch is being written
 * go into the next batch.
 */
export interface Batcher {
  /** Resolves when the operation is durable. Rejects if the database rejected it. */
  push(op: LedgerOp): Promise<LedgerResult>
  /**
   * Queues an operation whose result no request waits for. If no batch starts within a few milliseconds, the operation
   * starts one. Under load, it joins another batch and needs no transaction of its own.
   */
  defer(op: LedgerOp): Deferred
  /** The number of operations that are not durable yet. */
  pending(): number
}

/** An operation that can still be withdrawn. */
export interface Deferred {
  /** The same as the result of `push`; undefined if the operation was withdrawn. */
  readonly done: Promise<LedgerResult | undefined>
  /** Starts the batch now. */
  hurry(): void
  /** Withdraws the operation. If its batch has already begun, returns false and changes nothing. */
  withdraw(): boolean
}

/**
 * The maximum number of operations per transaction. With this limit, the first operations of a burst do not wait for
 * the last ones.
 */
const largestBatch = 512
/**
 * If a batch had at least this many operations, the next batch also takes the operations of the turn after it. One
 * transaction costs less than two of half the size (decision 0140).
 */
const busyBatch = 8
/** The maximum time that a deferred operation waits for a batch. */
const deferMs = 5

/**
 * Batches operations for one store. If a whole batch is rejected, its operations are tried again one by one, so that
 * only the invalid one fails.
 */
export function createBatcher(store: LedgerStore): Batcher {
  let queue: Waiting[] = []
  let running = false
  let inFlight = 0
  /** The number of operations in the last batch. */
  let lastSize = 0
  /** True if a caller waits for an operation in the queue, so that the batch must start now. */
  let isAwaited = false
  let timer: ReturnType<typeof setTimeout> | undefined

  function schedule(): void {
    if (running || queue.length === 0) return
    if (isAwaited) begin()
    else timer ??= setTimeout(begin, deferMs)
  }

  function begin(): void {
    clearTimeout(timer)
    timer = undefined
    running = true
    // All operations that arrive in this turn of the event loop join the batch.
    setImmediate(() => {
      // A batch that is full already gains nothing by waiting.
      if (lastSize < busyBatch || queue.length >= largestBatch) void flush()
      else setImmediate(() => void flush())
    })
  }

  async function flush(): Promise<void> {
    if (queue.length === 0) {
      running = false
      return
    }
    const batch = queue.length > largestBatch ? queue.splice(0, largestBatch) : queue
    if (batch === queue) {
      queue = []
      isAwaited = false
    }
    inFlight = batch.length
    lastSize = inFlight
    try {
      const results = await store.apply(batch.map((each) => each.op))
      for (const [index, each] of batch.entries()) each.resolve(results[index])
    } catch (error) {
      // A single operation can be the cause only if the database rejected the batch because of its content. If the
      // database is unreachable, every operation fails.
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
      each.resolve(result)
    } catch (error) {
      each.reject(error)
    }
  }

  return {
    push: (op) =>
      new Promise((resolve, reject) => {
        queue.push({ op, resolve: resolve as Waiting['resolve'], reject })
        isAwaited = true
        schedule()
      }),
    defer(op) {
      const { promise: done, resolve, reject } = Promise.withResolvers<LedgerResult | undefined>()
      const waiting: Waiting = { op, resolve, reject }
      queue.push(waiting)
      schedule()
      return {
        done,
        hurry() {
          isAwaited = true
          schedule()
        },
        withdraw() {
          const at = queue.lastIndexOf(waiting)
          if (at < 0) return false
          queue.splice(at, 1)
          resolve(undefined)
          return true
        },
      }
    },
    pending: () => queue.length + inFlight,
  }
}
