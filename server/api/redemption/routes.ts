import { api } from '../../../contract/api/index.ts'
import type { Redemption } from '../../../contract/api/redemption.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { listed, pageOf } from '../../http/list-page.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { randomHex } from '../../lib/secrets/ids.ts'
import {
  addRedemptions,
  deleteRedemption,
  listRedemptions,
  type RedemptionRow,
  redemptionById,
  usernamesOf,
} from '../../store/accounts/redemptions.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Db } from '../../store/store.ts'
import { auditEvent, describeFields } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'
import { mountBatches } from './batch-routes.ts'
import { checkExpiry } from './check-expiry.ts'
import { changeRedemption } from './update-redemption.ts'

/** The length of a code in bytes: 32 hex digits, as in one-api. */
const codeBytes = 16

/**
 * Redemption codes, for admins. The audit log identifies them by id, because anyone who reads a code can spend it.
 */
export function mountRedemptions(router: ApiRouter, deps: Pick<ApiDeps, 'store' | 'clock'>): void {
  const { store, clock } = deps
  const filterOf = <Query>(query: Query) => ({ ...query, now: epochSeconds(clock) })

  serve(router, api.redemption.list, async ({ query, context }) =>
    redemptionViews(store.read, listed(context, await listRedemptions(store.read, pageOf(query), filterOf(query)))),
  )

  serve(router, api.redemption.search, async ({ query, context }) =>
    redemptionViews(store.read, listed(context, await listRedemptions(store.read, pageOf(query), filterOf(query)))),
  )

  mountBatches(router, deps)

  serve(router, api.redemption.get, async ({ params }) => {
    const row = await redemptionById(store.read, params.id)
    if (!row) throw new ApiFailure('Redemption code not found.')
    return redemptionView(store.read, row)
  })

  serve(router, api.redemption.create, async (call) => {
    const { name, quota, count, expired_time, prefix } = call.body
    checkExpiry(clock, expired_time)
    const keys = Array.from({ length: count }, () => prefix + randomHex(codeBytes).slice(prefix.length))
    await store.write(async (trx) => {
      await call.admitAgain(trx)
      const common = { user_id: call.person.id, name, quota, created_time: epochSeconds(clock), expired_time }
      const ids = await addRedemptions(
        trx,
        keys.map((key) => ({ ...common, key })),
      )
      const until = expired_time === 0 ? '' : ` until ${expired_time}`
      const detail = `${count} × ${quota} ${JSON.stringify(name)}${until} as ${ids.join(' ')}`
      await recordAudit(trx, auditEvent(clock, call, 'redemption.create', `${count} redemptions`, detail))
    })
    return keys
  })

  serve(router, api.redemption.update, async (call) => redemptionView(store.read, await changeRedemption(deps, call)))

  serve(router, api.redemption.remove, async (call) => {
    const { id } = call.params
    await store.write(async (trx) => {
      await call.admitAgain(trx)
      const code = await deleteRedemption(trx, id)
      if (!code) throw new ApiFailure('Redemption code not found.')
      const detail = describeFields(code, Object.keys(code))
      await recordAudit(trx, auditEvent(clock, call, 'redemption.delete', `redemption ${id}`, detail))
    })
  })
}

async function redemptionView(db: Db, row: RedemptionRow): Promise<Redemption> {
  const [view] = await redemptionViews(db, [row])
  return view ?? { ...row, redeemed_username: '', count: 0 }
}

async function redemptionViews(db: Db, rows: readonly RedemptionRow[]): Promise<Redemption[]> {
  const redeemers = rows.map((row) => row.redeemed_user_id).filter((id) => id !== 0)
  const names = await usernamesOf(db, redeemers)
  return rows.map((row) => ({ ...row, redeemed_username: names.get(row.redeemed_user_id) ?? '', count: 0 }))
}
