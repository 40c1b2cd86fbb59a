import type { Events } from '../events.ts'
import { logsOfRequest } from '../store/logs/log-request.ts'
import type { Store } from '../store/store.ts'
import type { LedgerDeps } from './ledger.ts'

type Reports = Pick<LedgerDeps, 'onSettleRetry' | 'onHoldLost' | 'onRowRefused' | 'rowsOf'>

/**
 * Reports problems with charges to the operator, and finds the log rows of charges whose database response was lost.
 */
export function ledgerReports(events: Events, store: Store): Reports {
  return {
    onSettleRetry: (error) => events.settleRetried({ cause: String(error) }),
    onHoldLost: (id, charge) =>
      events.warning(
        `hold ${id} was closed by another process as abandoned; the ${charge} units of its call are not charged`,
      ),
    onRowRefused: (requestId, charge) =>
      events.warning(
        `the database refused the log row of call ${requestId}; its ${charge} units are charged and count as unlogged`,
      ),
    rowsOf: (requestId) => logsOfRequest(store.read, requestId),
  }
}
