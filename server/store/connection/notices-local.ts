import type { NoticeListener, Notices } from '../store.ts'

/** Notices within a single process. They are for SQLite, which serves only one process on one machine. */
export function localNotices(): Notices {
  const listeners: NoticeListener[] = []
  return {
    async publish(notice) {
      await Promise.all(listeners.map((listener) => listener(notice)))
    },
    subscribe: (listener) => void listeners.push(listener),
    async close() {
      listeners.length = 0
    },
  }
}
