import type { Clock } from '../lib/clock.ts'

export interface RateRule {
  /** The number of calls allowed within the window; 0 turns the limit off. */
  limit: number
  windowMs: number
}

/** Counts calls per key. The counts are not shared with other processes. They use a limited amount of memory. */
export interface RateLimiter {
  /**
   * Counts one call. Returns 0 if the call is allowed, otherwise the number of seconds until it would be allowed. A
   * refused call is not counted.
   */
  take(key: string): number
  /** Like `take`, but without counting the call. */
  wait(key: string): number
  /** Removes a key's count, so that the full limit is available again. */
  reset(key: string): void
}

interface Window {
  start: number
  count: number
  before: number
}

/**
 * A sliding window that is approximated by two fixed windows. As the current window passes, the weight of the previous
 * window's count decreases linearly to zero. Each key needs only three numbers, whatever the limit. If there are more
 * than `maxKeys` keys, the oldest are removed.
 */
export function createRateLimiter(rule: RateRule, clock: Clock, maxKeys = 20_000): RateLimiter {
  const windows = new Map<string, Window>()

  function windowOf(key: string, now: number): Window {
    const current = windows.get(key)
    const start = now - (now % rule.windowMs)
    if (current && current.start === start) return current
    const next = { start, count: 0, before: current && current.start === start - rule.windowMs ? current.count : 0 }
    // The key is deleted first, so that it moves to the end and the map stays ordered by window.
    windows.delete(key)
    windows.set(key, next)
    if (windows.size > maxKeys) {
      const oldest = windows.keys().next()
      if (!oldest.done) windows.delete(oldest.value)
    }
    return next
  }

  function waitSeconds({ start, count, before }: Window, now: number): number {
    const left = (start + rule.windowMs - now) / rule.windowMs
    if (before * left + count + 1 <= rule.limit) return 0
    // If the current window has not reached the limit by itself, the next call is allowed when the weight of the
    // previous window's count has decreased enough. Otherwise, it is allowed in the next window, when the weight of the
    // current window's count has decreased enough.
    const room = rule.limit - 1 - count
    const ms =
      room >= 0 ? (left - room / before) * rule.windowMs : (left + 1 - (rule.limit - 1) / count) * rule.windowMs
    return Math.max(1, Math.ceil(ms / 1000))
  }

  return {
    take(key) {
      if (rule.limit === 0) return 0
      const now = clock.nowMs()
      const window = windowOf(key, now)
      const wait = waitSeconds(window, now)
      if (wait === 0) window.count++
      return wait
    },
    wait(key) {
      if (rule.limit === 0 || !windows.has(key)) return 0
      const now = clock.nowMs()
      return waitSeconds(windowOf(key, now), now)
    },
    reset: (key) => void windows.delete(key),
  }
}
