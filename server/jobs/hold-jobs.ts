import type { Ledger } from '../billing/ledger.ts'
import { type Job, unchanged } from './scheduler.ts'
import { type SweepDeps, sweepHolds, sweepOwnHolds, sweepOwnLeases } from './sweep-holds.ts'

const everyMs = 5_000

/** The jobs that close holds without a call: those of dead processes, and those of this process. */
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
      // Without calls, there are no holds. The job still runs for a while after the last calls, because the database
      // may execute a hold late.
      isQuiet: unchanged(ledger.holdsTaken),
    },
  ]
}
