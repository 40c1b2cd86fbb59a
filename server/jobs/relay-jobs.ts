import { pollJobs } from '../relay/background/poll-jobs.ts'
import type { RelayDeps } from '../relay/call/deps.ts'
import { type Job, unchanged } from './scheduler.ts'

/**
 * The interval at which data that calls collected in memory is written to the database, and upstreams are asked whether
 * background responses have ended.
 */
const everyMs = 2_000

/** Work that calls postpone until after their response. */
export function relayJobs(relay: RelayDeps): Job[] {
  return [
    { name: 'count-failures', everyMs, run: relay.channelFailures.write },
    { name: 'stored-responses', everyMs, run: relay.responseOwners.write },
    {
      name: 'background-jobs',
      everyMs,
      run: () => pollJobs(relay),
      isQuiet: unchanged(relay.backgroundJobs.handled),
    },
  ]
}
