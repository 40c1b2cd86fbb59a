import type { RelayDeps } from '../call/deps.ts'

/** The time by which the caller must ask for the next piece of its answer, in milliseconds of the deadline clock. */
export function unreadLimit({ deadlineWatch, settings }: RelayDeps): number {
  const limitMs = settings().CallerIdleTimeout * 1000
  return limitMs > 0 ? deadlineWatch.nowMs() + limitMs : Number.POSITIVE_INFINITY
}
