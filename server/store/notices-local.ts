import type { Notice, Notices } from './store.ts'

/** Notices of a single process: SQLite serves one machine and one process. */
export function localNotices(): Notices {
  const listeners: ((notice: Notice) => void)[] = []
  return {
    async publish(notice) {
      for (const listener of listeners) listener(notice)
    },
    subscribe: (listener) => void listeners.push(listener),
    async close() {
      listeners.length = 0
    },
  }
}
