import type { DryRunRequest } from '../../../contract/api/virtual-model.ts'
import type { Store } from '../../store/store.ts'
import type { RelayDeps } from '../call/deps.ts'
import { dryRun } from './dry-run.ts'
import { priceList } from './price-list.ts'
import { virtualWarnings } from './virtual-warnings.ts'

/** The reports about models and their routes for the management API. They call no service and charge nothing. */
export function routeReports(relay: RelayDeps, store: Store) {
  return {
    priceList: (group: string, userGroup?: string) => priceList(group, relay, userGroup),
    virtualWarnings: (name: string) => virtualWarnings(name, relay),
    dryRun: (request: DryRunRequest) => dryRun(relay, store, request),
  }
}
