import { runningTimer } from './running-timer.ts'

const slowestBytesPerMs = 32
/** The longest that a timer can wait. */
const mostMs = 2 ** 31 - 1

/**
 * How long the body of a request may take to arrive, in milliseconds: as long as a caller may be silent, and a second
 * more for each 32 KiB. No limit for who may be silent for ever (0).
 */
export function bodyTimeMs(callerIdleMs: number, bytes: number): number {
  return callerIdleMs > 0 ? Math.min(callerIdleMs + bytes / slowestBytesPerMs, mostMs) : 0
}

/**
 * Rejects with `late()` when the work is not done in so many milliseconds in which this process ran (0 = any time); the
 * work itself goes on.
 */
export function inTime<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  if (ms <= 0) return work
  return new Promise((resolve, reject) => {
    const endTimer = runningTimer(ms, () => reject(late()))
    work.then(resolve, reject).finally(endTimer)
  })
}
