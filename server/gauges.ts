import type { Batcher } from './billing/batcher.ts'
import type { Metrics } from './metrics.ts'
import type { RelayDeps } from './relay/call/deps.ts'

/** Connects each metric that shows a current value with the object from which the value is read. */
export function bindGauges(
  metrics: Metrics,
  batcher: Batcher,
  { breaker, rests, ledger, line, deadlineWatch }: RelayDeps,
): void {
  metrics.bind({
    ledgerPending: batcher.pending,
    openBreakers: () => breaker.snapshot().length + rests.count(),
    openCalls: ledger.openHolds,
    waitingCalls: line.waiting,
    longestLagSeconds: () => deadlineWatch.longestLagMs() / 1000,
  })
}
