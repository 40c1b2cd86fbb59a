import { maxQuota } from '../../../contract/api/fields.ts'
import type { api } from '../../../contract/api/index.ts'
import { limitFields, limitsOf, limitsSent } from '../../../contract/limits.ts'
import { logType } from '../../../contract/log-types.ts'
import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { PersonCall } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { hashPassword } from '../../lib/secrets/password.ts'
import { endSessionsOf } from '../../store/accounts/sessions.ts'
import {
  addUserQuota,
  revokeLogins,
  setUserQuota,
  type UserFields,
  updateUser,
} from '../../store/accounts/user-changes.ts'
import { lockUser, type UserRow, userById } from '../../store/accounts/users.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { countOpenCalls } from '../../store/ledger/limits.ts'
import { addAccountLog } from '../../store/logs/logs.ts'
import type { Trx } from '../../store/store.ts'
import { auditEvent, describeChange } from '../audit-event.ts'
import { quotaText } from '../quota-text.ts'
import { refuseUnlessAbove, type UserDeps } from './manage-user.ts'
import { newUsername } from './new-username.ts'

type Update = PersonCall<typeof api.user.update>

const shownFields = ['username', 'display_name', 'group', 'role', 'status', 'quota']

/** Writes only the fields of an account that an admin has changed. */
export async function updateUserAsAdmin(deps: UserDeps, call: Update): Promise<void> {
  const { store, clock } = deps
  const { body } = call
  if (body.quota != null && body.quota_delta !== undefined) {
    throw new ApiFailure('Send either quota or quota_delta, not both.')
  }
  const password = body.password ? await hashPassword(body.password) : undefined
  const takesQuota = body.quota != null || (body.quota_delta ?? 0) < 0
  if (takesQuota && deps.leases?.mayBeOut()) await callBackLeases(deps, call)
  await store.write(async (trx) => {
    const person = await call.admitAgain(trx, body.id)
    const target = await lockUser(trx, { id: body.id })
    if (!target) throw new ApiFailure('User not found.')
    refuseUnlessAbove(person, target)
    const limits = limitsSent(body)
    const fields: UserFields = { ...roleAndStatus(body, person, target), ...limits }
    const username = await newUsername(trx, target, body.username)
    if (username !== undefined) fields.username = username
    if (body.display_name !== undefined) fields.display_name = body.display_name
    if (body.group) fields.group = body.group
    if (password !== undefined) fields.password = password
    await updateUser(trx, target.id, fields)
    if (limitsOf(limits) || fields.group !== undefined) await countOpenCalls(trx, { userId: target.id })
    const delta = await changeQuota(deps, trx, call, { ...target, username: username ?? target.username })
    // When an admin sets a password, the account may be in the wrong hands, so all earlier logins end.
    if (password !== undefined) await revokeLogins(trx, target.id)
    else if (fields.status === userStatus.disabled || (fields.role ?? target.role) < target.role) {
      await endSessionsOf(trx, target.id)
    }
    const written = { ...fields, quota: target.quota + delta }
    const detail = describeChange(target, written, [...shownFields, ...limitFields])
    await recordAudit(trx, auditEvent(clock, call, 'user.update', `user ${target.id}`, detail))
  })
}

/**
 * Recalls the account's quota that processes have leased. Throws if the person may not change the account. It must run
 * before the transaction locks any row.
 */
async function callBackLeases({ store, leases }: UserDeps, { body, person }: Update): Promise<void> {
  const target = await userById(store.read, body.id)
  if (!target) throw new ApiFailure('User not found.')
  refuseUnlessAbove(person, target)
  await leases?.callBack(target.id)
}

/**
 * The role and status, if they are changed. Clients send back both fields even if they are unchanged, so only a
 * different value counts as a change.
 */
function roleAndStatus(body: Update['body'], person: { role: number }, target: UserRow): UserFields {
  const fields: UserFields = {}
  if (body.role && body.role !== target.role) {
    if (person.role < roles.root) throw new ApiFailure('Only a super admin can change roles.')
    if (target.role >= roles.root) throw new ApiFailure('A super admin cannot be demoted.')
    if (!Object.values<number>(roles).includes(body.role)) throw new ApiFailure('role must be 1, 10 or 100.')
    fields.role = body.role
  }
  if (body.status && body.status !== target.status) {
    if (body.status !== userStatus.enabled && body.status !== userStatus.disabled) {
      throw new ApiFailure('status must be 1 or 2.')
    }
    if (target.role >= roles.root) throw new ApiFailure('A super admin cannot be banned.')
    fields.status = body.status
  }
  return fields
}

/** Changes the balance and records the change in the user's logs. Returns the difference. */
async function changeQuota(deps: UserDeps, trx: Trx, { body }: Update, target: UserRow): Promise<number> {
  const wanted = body.quota ?? target.quota + (body.quota_delta ?? 0)
  if (wanted === target.quota) return 0
  if (wanted < 0) throw new ApiFailure('The quota must not be negative.')
  if (wanted > maxQuota && wanted > target.quota) throw new ApiFailure(`The quota must be at most ${maxQuota}.`)
  const { quota_delta: delta } = body
  // Quota that is still leased to processes is not touched, so the result can differ from the requested value.
  const quota = await (delta === undefined ? setUserQuota(trx, target.id, wanted) : addUserQuota(trx, target.id, delta))
  const settings = deps.settings.current()
  const content = `Admin changed user quota from ${quotaText(settings, target.quota)} to ${quotaText(settings, quota)}`
  await addAccountLog(trx, {
    user_id: target.id,
    username: target.username,
    created_at: epochSeconds(deps.clock),
    type: logType.manage,
    content,
    quota: quota - target.quota,
  })
  return quota - target.quota
}
