import type { Ledger } from '../billing/ledger.ts'
import { type Job, unchanged } from './scheduler.ts'
import { type SweepDeps, sweepHolds, sweepOwnHolds, sweepOwnLeases } from './sweep-holds.ts'

const everyMs = 5_000

/**
 * The jobs that close holds whose call has ended: one for the holds of dead processes, and one for the holds of this
 * process.
 */
export function holdJobs(sweep: SweepDeps, ledger: Pick<Ledger, 'stateOf' | 'holdsTaken' | 'leases'>): Job[] {
  return [
    { name: 'sweep-holds', everyMs, run: () => sweepHolds(sweep) },
    {
      name: 'sweep-own-holds',
      everyMs,
      run: async () => {
        await sweepOwnHolds(sweep, ledger)
        if (ledger.leases) await sweepOwnLeases(sweep, ledger.leases)
      },
      // If this process takes no holds, there is nothing to close. The job becomes quiet only a minute after the last
      // hold, because the database may execute the statement of a hold late.
      isQuiet: unchanged(ledger.holdsTaken),
    },
  ]
}
