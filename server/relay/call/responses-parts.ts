import type { Clock } from '../../lib/clock.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import type { Store } from '../../store/store.ts'
import { createBackgroundJobs } from './background-jobs.ts'
import { createCompactionSeals } from './compactions.ts'
import type { RelayDeps } from './deps.ts'
import { createDrainedSessions } from './drained-sessions.ts'
import { createResponseOwners } from './response-owners.ts'

/** The dependencies of calls that continue earlier calls, such as those of the Responses API. */
export type ResponsesParts = Pick<
  RelayDeps,
  'compactionSeals' | 'responseOwners' | 'backgroundJobs' | 'drainedSessions'
>

/** Creates these dependencies. They store data only in the database. */
export function createResponsesParts(
  { store, nodeId, clock }: { store: Store; nodeId: string; clock: Clock },
  secrets: Secrets,
): ResponsesParts {
  return {
    backgroundJobs: createBackgroundJobs(store, nodeId, clock),
    compactionSeals: createCompactionSeals(secrets),
    drainedSessions: createDrainedSessions(store, clock),
    responseOwners: createResponseOwners(store, secrets, clock),
  }
}
