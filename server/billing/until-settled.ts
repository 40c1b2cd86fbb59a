import type { Batcher } from './batcher.ts'
import type { Ledger } from './ledger.ts'

/** The time that the shutdown waits until interrupted calls have been charged. */
const lastSettlesMs = 5_000

/**
 * Waits at shutdown until interrupted responses have been charged for their delivered output. The process's heartbeat
 * must continue until this is done.
 */
export async function untilSettled(ledger: Pick<Ledger, 'openHolds'>, batcher: Batcher): Promise<void> {
  const lateMs = performance.now() + lastSettlesMs
  while ((ledger.openHolds() > 0 && performance.now() < lateMs) || batcher.pending() > 0)
    await new Promise((resolve) => setTimeout(resolve, 5))
}
