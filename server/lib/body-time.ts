import { runningTimer } from './running-timer.ts'

const slowestBytesPerMs = (32 * 1024) / 1000
/** The longest delay that a timer supports, in milliseconds. */
const mostMs = 2 ** 31 - 1

/**
 * How long a request body may take to arrive, in milliseconds. The limit is the time for which a caller may be silent,
 * plus one second for every 32 KiB. Returns 0 (no limit) if `callerIdleMs` is 0.
 */
export function bodyTimeMs(callerIdleMs: number, bytes: number): number {
  return callerIdleMs > 0 ? Math.min(callerIdleMs + bytes / slowestBytesPerMs, mostMs) : 0
}

/**
 * Rejects with `late()` if the work takes longer than `ms` milliseconds; 0 = no limit. Time during which the process is
 * stopped does not count. The work itself continues.
 */
export function inTime<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  if (ms <= 0) return work
  return new Promise((resolve, reject) => {
    const endTimer = runningTimer(ms, () => reject(late()))
    work.then(resolve, reject).finally(endTimer)
  })
}
