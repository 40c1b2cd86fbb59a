import type { Clock } from '../lib/clock.ts'

const freshMs = 30_000

/** Wraps a function so that all callers share its result for 30 seconds. Failures are not cached. */
export function cachedFor<Value>(read: () => Promise<Value>, clock: Clock): () => Promise<Value> {
  let cached: { atMs: number; value: Promise<Value> } | undefined
  return () => {
    const atMs = clock.nowMs()
    if (cached && atMs - cached.atMs < freshMs) return cached.value
    const mine = { atMs, value: read() }
    cached = mine
    mine.value.catch(() => {
      if (cached === mine) cached = undefined
    })
    return mine.value
  }
}
