import type { ServiceState } from '../../contract/api/status-page.ts'

/** The number of calls in a period, and how many of these calls failed because of this service. */
export interface Counts {
  calls: number
  failed: number
}

/** The minimum number of calls for a percentage. With fewer calls, a percentage would say little about the service. */
const leastCalls = 10
/** The minimum percentages of successful calls for the states `up` and `degraded`. */
const upFrom = 95
const degradedFrom = 70

/** The percentage of calls that did not fail, rounded down to a tenth; null if there were too few calls. */
export function uptimeOf({ calls, failed }: Counts): number | null {
  return calls < leastCalls ? null : Math.floor((Math.max(0, calls - failed) * 1000) / calls) / 10
}

/** The state in a period. A few calls can show that the service worked, but not that it failed. */
export function stateOf({ calls, failed }: Counts): ServiceState {
  if (calls < leastCalls) return calls > 0 && failed === 0 ? 'up' : 'none'
  const served = ((calls - failed) * 100) / calls
  if (served >= upFrom) return 'up'
  return served >= degradedFrom ? 'degraded' : 'down'
}

/** Adds the counts of several models or periods. */
export function addCounts(all: readonly Counts[]): Counts {
  return all.reduce((sum, { calls, failed }) => ({ calls: sum.calls + calls, failed: sum.failed + failed }), {
    calls: 0,
    failed: 0,
  })
}
