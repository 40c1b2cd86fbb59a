import type { LogRow } from '../store/logs/log-pages.ts'
import { createLogReader } from '../store/logs/log-tail.ts'
import type { Store } from '../store/store.ts'

/** Receives new log rows. `end` is called when no more rows will follow. */
export interface TailListener {
  rows(rows: readonly LogRow[]): void
  end(): void
}

/** New log rows of every node, for all listeners. */
export interface LogTail {
  /** The interval at which listeners send a keep-alive to their clients, in milliseconds. */
  readonly heartbeatMs: number
  /**
   * Registers a listener. After the promise has resolved, the listener receives every row written from then on. It may
   * also receive some rows from the second before.
   */
  listen(listener: TailListener): Promise<() => void>
  /** Ends all listeners. Listeners that register later are ended immediately. */
  close(): void
}

const defaults = { everyMs: 1000, heartbeatMs: 15_000 }
const rowsPerStep = 500

/** Reads the database once a second for all listeners together. Without listeners, nothing is read. */
export function createLogTail(
  store: Store,
  warn: (message: string) => void,
  times: Partial<typeof defaults> = {},
): LogTail {
  const { everyMs, heartbeatMs } = { ...defaults, ...times }
  const listeners = new Set<TailListener>()
  let reading: Promise<void> | undefined
  let closed = false
  let reader = createLogReader(store, () => performance.now())
  let timer: ReturnType<typeof setTimeout> | undefined

  async function look(): Promise<void> {
    const rows = await reader.next(rowsPerStep)
    if (rows.length > 0) for (const listener of listeners) listener.rows(rows)
    plan(rows.length >= rowsPerStep ? 0 : everyMs)
  }

  function plan(delayMs: number): void {
    if (listeners.size === 0) {
      reading = undefined
      return
    }
    timer = setTimeout(() => {
      look().catch((error: unknown) => {
        warn(`new log rows could not be read: ${String(error)}`)
        plan(everyMs)
      })
    }, delayMs)
    timer.unref()
  }

  async function begin(): Promise<void> {
    reader = createLogReader(store, () => performance.now())
    await reader.next(0)
    plan(everyMs)
  }

  return {
    heartbeatMs,
    async listen(listener) {
      if (closed) {
        listener.end()
        return () => undefined
      }
      listeners.add(listener)
      reading ??= begin()
      try {
        await reading
      } catch (error) {
        listeners.delete(listener)
        reading = undefined
        throw error
      }
      return () => void listeners.delete(listener)
    },
    close() {
      closed = true
      clearTimeout(timer)
      for (const listener of listeners) listener.end()
      listeners.clear()
    },
  }
}
