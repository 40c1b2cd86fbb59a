import * as z from 'zod/mini'
import type { api } from '../../../contract/api/index.ts'
import { redemptionName } from '../../../contract/api/redemption.ts'
import { redemptionStatus } from '../../../contract/statuses.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { parseInput } from '../../http/parse-input.ts'
import type { PersonCall } from '../../http/serve-endpoint.ts'
import type { Clock } from '../../lib/clock.ts'
import {
  lockRedemption,
  type RedemptionRow,
  redemptionById,
  updateRedemption,
} from '../../store/accounts/redemptions.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent, describeChange } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'
import { checkExpiry } from './check-expiry.ts'

type Update = PersonCall<typeof api.redemption.update>
type Fields = Parameters<typeof updateRedemption>[2]

const named = z.object({ name: redemptionName })

/** Changes a code: only its status, or everything except its status. Returns the new row. */
export async function changeRedemption(
  { store, clock }: Pick<ApiDeps, 'store' | 'clock'>,
  call: Update,
): Promise<RedemptionRow> {
  const { body, query } = call
  return store.write(async (trx) => {
    await call.admitAgain(trx)
    const before = await lockRedemption(trx, body.id)
    if (!before) throw new ApiFailure('Redemption code not found.')
    const fields = query.status_only ? wantedStatus(call, before) : wantedFields(call, before, clock)
    await updateRedemption(trx, body.id, fields)
    const detail = describeChange(before, fields, ['name', 'quota', 'status', 'expired_time'])
    await recordAudit(trx, auditEvent(clock, call, 'redemption.update', `redemption ${body.id}`, detail))
    return (await redemptionById(trx, body.id)) ?? { ...before, ...fields }
  })
}

/** The requested status. A used code stays used, because otherwise its quota could be given a second time. */
function wantedStatus({ body }: Update, before: RedemptionRow): Fields {
  const { status } = body
  if (status !== redemptionStatus.unused && status !== redemptionStatus.disabled) {
    throw new ApiFailure('status must be 1 or 2.')
  }
  if (before.status === redemptionStatus.used) throw new ApiFailure('A used redemption code cannot be reactivated.')
  return { status }
}

function wantedFields({ body }: Update, before: RedemptionRow, clock: Clock): Fields {
  const fields: Fields = {}
  // An unchanged name is not validated, because imported codes may have names that are not allowed for new codes, and
  // clients send whole records back.
  if (body.name !== undefined && body.name !== before.name) fields.name = parseInput(named, { name: body.name }).name
  if (body.quota !== undefined && body.quota !== before.quota) {
    if (before.status === redemptionStatus.used) {
      throw new ApiFailure('The quota of a used redemption code cannot be changed.')
    }
    fields.quota = body.quota
  }
  if (body.expired_time !== undefined && body.expired_time !== before.expired_time) {
    checkExpiry(clock, body.expired_time)
    fields.expired_time = body.expired_time
  }
  return fields
}
