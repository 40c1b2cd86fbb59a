import { maxQuota } from '../../../contract/api/fields.ts'
import type { api } from '../../../contract/api/index.ts'
import { limitsOf, limitsSent } from '../../../contract/limits.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { PersonCall } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import type { Settings } from '../../settings/settings.ts'
import {
  addTokenQuota,
  lockToken,
  setTokenQuota,
  type TokenFields,
  type TokenRow,
  tokenOf,
  updateToken,
} from '../../store/accounts/tokens.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { countOpenCalls } from '../../store/ledger/limits.ts'
import type { Trx } from '../../store/store.ts'
import { auditEvent, describeChange } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'
import { refuseToEnable } from '../refuse-to-enable.ts'
import { tokenGroup } from '../usable-groups.ts'
import { parseExpiry, parseModels, parseSubnet } from './token-input.ts'

type Update = PersonCall<typeof api.token.update>

/** Changes a token of the caller: only its status, or everything except its status. Returns the new row. */
export async function updateOwnToken(
  { store, clock, settings, leases }: Pick<ApiDeps, 'store' | 'clock' | 'settings' | 'leases'>,
  call: Update,
): Promise<TokenRow> {
  const { body, person, query } = call
  const takesQuota = body.remain_quota != null || (body.remain_quota_delta ?? 0) < 0
  const changesQuota = takesQuota || body.unlimited_quota !== undefined
  if (changesQuota && !query.status_only && leases?.mayBeOut()) await leases.callBack(person.id)
  return store.write(async (trx) => {
    const token = await lockToken(trx, person.id, body.id)
    if (!token) throw new ApiFailure('Token not found.')
    if (body.status === tokenStatus.enabled) refuseToEnable(token, epochSeconds(clock))
    const fields = query.status_only ? { status: wantedStatus(call) } : wantedFields(call, token, settings.current())
    await updateToken(trx, token.id, fields)
    if (limitsOf(fields)) await countOpenCalls(trx, { tokenId: token.id })
    const quota = query.status_only ? {} : await changeQuota(trx, call, token)
    const detail = describeChange(token, { ...fields, ...quota }, [...Object.keys(fields), 'remain_quota'])
    await recordAudit(trx, auditEvent(clock, call, 'token.update', `token ${token.id}`, detail))
    const changed = await tokenOf(trx, person.id, token.id)
    if (!changed) throw new ApiFailure('Token not found.')
    return changed
  })
}

function wantedStatus({ body }: Update): number {
  if (body.status !== tokenStatus.enabled && body.status !== tokenStatus.disabled) {
    throw new ApiFailure('status must be 1 or 2.')
  }
  return body.status
}

function wantedFields(
  { body, person }: Update,
  token: TokenRow,
  settings: Pick<Settings, 'UserUsableGroups'>,
): TokenFields {
  const fields: TokenFields = {}
  if (body.name !== undefined) fields.name = body.name
  if (body.expired_time != null) fields.expired_time = parseExpiry(body.expired_time)
  if (body.unlimited_quota !== undefined) fields.unlimited_quota = body.unlimited_quota
  // A client that sends back the whole row may send a group that the user can no longer choose. The token then keeps
  // its group, and requests with it are refused.
  if (body.group !== undefined && (body.group ?? '') !== token.group)
    fields.group = tokenGroup(body.group, person.group, settings)
  if (body.models !== undefined) fields.models = parseModels(body.models)
  if (body.subnet !== undefined) fields.subnet = parseSubnet(body.subnet)
  if (body.project !== undefined) fields.project = body.project ?? ''
  return { ...fields, ...limitsSent(body) }
}

/** Changes the remaining quota. Returns the new value for the audit log, or nothing if it is unchanged. */
async function changeQuota(trx: Trx, { body }: Update, token: TokenRow): Promise<{ remain_quota?: number }> {
  if (body.remain_quota != null && body.remain_quota_delta !== undefined) {
    throw new ApiFailure('Send either remain_quota or remain_quota_delta, not both.')
  }
  const wanted = body.remain_quota ?? token.remain_quota + (body.remain_quota_delta ?? 0)
  if (wanted === token.remain_quota) return {}
  if (wanted < 0) throw new ApiFailure('remain_quota must not be negative.')
  if (wanted > maxQuota && wanted > token.remain_quota) {
    throw new ApiFailure(`remain_quota must be at most ${maxQuota}.`)
  }
  const { remain_quota_delta: delta } = body
  // Quota that is still leased to processes is not touched, so the result can differ from the requested value.
  const changed = delta === undefined ? setTokenQuota(trx, token.id, wanted) : addTokenQuota(trx, token.id, delta)
  return { remain_quota: await changed }
}
