import type { RelayDeps } from '../call/deps.ts'

/** Until when the caller is to ask for the next piece of its answer, in milliseconds of the clock of waits. */
export function unreadLimit({ deadlineWatch, settings }: RelayDeps): number {
  const limitMs = settings().CallerIdleTimeout * 1000
  return limitMs > 0 ? deadlineWatch.nowMs() + limitMs : Number.POSITIVE_INFINITY
}
