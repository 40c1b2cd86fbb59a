import type { RelayDeps } from './deps.ts'

/** Until when the caller is to ask for the next piece of its answer, in milliseconds of the clock. */
export function unreadLimit({ clock, settings }: RelayDeps): number {
  const limitMs = settings().CallerIdleTimeout * 1000
  return limitMs > 0 ? clock.nowMs() + limitMs : Number.POSITIVE_INFINITY
}
