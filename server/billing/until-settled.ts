import type { Batcher } from './batcher.ts'
import type { Ledger } from './ledger.ts'

/** How long shutdown waits for calls that were cut off to be charged. */
const lastSettlesMs = 5_000

/**
 * Waits until interrupted responses have been charged for what they delivered. The heartbeat must continue until then.
 */
export async function untilSettled(ledger: Pick<Ledger, 'openHolds'>, batcher: Batcher): Promise<void> {
  const lateMs = performance.now() + lastSettlesMs
  while ((ledger.openHolds() > 0 && performance.now() < lateMs) || batcher.pending() > 0)
    await new Promise((resolve) => setTimeout(resolve, 5))
}
