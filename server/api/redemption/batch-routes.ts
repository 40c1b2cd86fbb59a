import { api } from '../../../contract/api/index.ts'
import { redemptionStatus } from '../../../contract/statuses.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { listed, pageOf } from '../../http/list-page.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { listBatches, switchBatch } from '../../store/accounts/redemption-batches.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'

/** Endpoints that count the codes by name, and that enable or disable all unused codes with a given name. */
export function mountBatches(router: ApiRouter, { store, clock }: Pick<ApiDeps, 'store' | 'clock'>): void {
  serve(router, api.redemption.batches, async ({ query, context }) =>
    listed(context, await listBatches(store.read, pageOf(query), { keyword: query.keyword, now: epochSeconds(clock) })),
  )

  serve(router, api.redemption.switchBatch, async (call) => {
    const { name, status } = call.body
    const { unused, disabled } = redemptionStatus
    if (status !== unused && status !== disabled) throw new ApiFailure('status must be 1 or 2.')
    const from = status === unused ? disabled : unused
    return store.write(async (trx) => {
      await call.admitAgain(trx)
      const ids = await switchBatch(trx, name, { from, to: status })
      if (ids.length === 0) return 0
      const detail = `status: ${from} → ${status} of ${JSON.stringify(name)} as ${ids.join(' ')}`
      await recordAudit(trx, auditEvent(clock, call, 'redemption.update', `${ids.length} redemptions`, detail))
      return ids.length
    })
  })
}
