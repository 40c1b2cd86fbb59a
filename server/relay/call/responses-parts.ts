import type { Clock } from '../../lib/clock.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import type { Store } from '../../store/store.ts'
import { createBackgroundJobs } from './background-jobs.ts'
import { createCompactionSeals } from './compactions.ts'
import type { RelayDeps } from './deps.ts'
import { createResponseOwners } from './response-owners.ts'

/** What only calls of the Responses API need. */
export type ResponsesParts = Pick<RelayDeps, 'compactionSeals' | 'responseOwners' | 'backgroundJobs'>

/** Creates these parts, which keep their data in the database or nowhere. */
export function createResponsesParts(
  { store, nodeId, clock }: { store: Store; nodeId: string; clock: Clock },
  secrets: Secrets,
): ResponsesParts {
  return {
    backgroundJobs: createBackgroundJobs(store, nodeId, clock),
    compactionSeals: createCompactionSeals(secrets),
    responseOwners: createResponseOwners(store, secrets, clock),
  }
}
