import { sql, type Updateable } from 'kysely'
import type { LimitField } from '../../../contract/limits.ts'
import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { randomBase62, randomHex } from '../../lib/secrets/ids.ts'
import { forgetRecordings } from '../installation/captures.ts'
import type { UsersTable } from '../schema/tables.ts'
import type { Trx } from '../store.ts'
import { deleteAlertsOf } from './alert-rules.ts'
import { afterDelta, leasedOfUser, withLeasesOfUser } from './leased.ts'
import { endSessionsOf } from './sessions.ts'

export interface NewUser {
  username: string
  /** The hash of the password; '' for accounts without a password. */
  password: string
  display_name: string
  role?: number
  quota: number
  created_time: number
  email?: string
  inviter_id?: number
  github_id?: string
  github_account_id?: string
  wechat_id?: string
}

/** Creates an account with its own invite code and returns its id. */
export async function addUser(trx: Trx, user: NewUser): Promise<number> {
  const row = await trx
    .insertInto('users')
    .values({
      role: roles.user,
      email: '',
      github_id: '',
      wechat_id: '',
      inviter_id: 0,
      ...user,
      granted_quota: user.quota,
      status: userStatus.enabled,
      lark_id: '',
      oidc_id: '',
      access_token_hash: null,
      used_quota: 0,
      request_count: 0,
      group: 'default',
      aff_code: randomBase62(8),
      unlogged_quota: 0,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** The fields of a user row that a person may write. The quota is changed by separate functions. */
export type UserFields = Pick<
  Updateable<UsersTable>,
  'username' | 'display_name' | 'password' | 'group' | 'role' | 'status' | 'access_token_hash' | LimitField
>

export async function updateUser(trx: Trx, id: number, fields: UserFields): Promise<void> {
  if (Object.keys(fields).length === 0) return
  await trx.updateTable('users').set(fields).where('id', '=', id).execute()
}

/**
 * Sets a balance to a value. The value includes the part that processes have leased. The granted quota changes by the
 * same amount as the balance. If more than the new balance is leased, the unleased part becomes zero. The row must be
 * locked. Resolves with the balance, including the leased part.
 */
export async function setUserQuota(trx: Trx, id: number, quota: number): Promise<number> {
  const leased = await withLeasesOfUser(trx, { id, quota: 0 })
  const left = Math.max(Math.min(quota, 0), quota - leased.quota)
  await trx
    .updateTable('users')
    .set({ quota: left, granted_quota: sql<number>`granted_quota + (${left} - quota)` })
    .where('id', '=', id)
    .execute()
  return left + leased.quota
}

/**
 * Gives quota, or takes it if `delta` is negative. At most the unleased part is taken, because calls may be spending
 * the leased part. Resolves with the balance, including the leased part.
 */
export async function addUserQuota(trx: Trx, id: number, delta: number): Promise<number> {
  const after = afterDelta('quota', delta)
  const changed = await trx
    .updateTable('users')
    .set({ quota: after, granted_quota: sql<number>`granted_quota + (${after} - quota)` })
    .where('id', '=', id)
    .returning(['id', 'quota'])
    .executeTakeFirst()
  return (await withLeasesOfUser(trx, changed))?.quota ?? 0
}

/**
 * Gives quota to an account that is not deleted, unless its balance, including the leased part, would exceed `most`.
 * Returns false if no quota was given. This is one conditional statement, so that two gifts at the same time cannot
 * exceed the limit together.
 */
export async function giveUserQuota(trx: Trx, id: number, quota: number, most: number): Promise<boolean> {
  const result = await trx
    .updateTable('users')
    .set((eb) => ({ quota: eb('quota', '+', quota), granted_quota: eb('granted_quota', '+', quota) }))
    .where('id', '=', id)
    .where('status', '<>', userStatus.deleted)
    .where(sql<number>`quota + ${leasedOfUser('users.id')}`, '<=', most - quota)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Ends all logins of a user: deletes the sessions and revokes the access token. */
export async function revokeLogins(trx: Trx, id: number): Promise<void> {
  await endSessionsOf(trx, id)
  await trx.updateTable('users').set({ access_token_hash: null }).where('id', '=', id).execute()
}

/**
 * Deletes an account. The row is kept because logs and usage sums refer to it. The name and the linked external
 * identities become free for other accounts, and the secrets and recorded requests are deleted.
 */
export async function deleteUser(trx: Trx, id: number): Promise<void> {
  await revokeLogins(trx, id)
  await deleteAlertsOf(trx, id)
  await trx
    .updateTable('users')
    .set({
      status: userStatus.deleted,
      username: `deleted_${randomHex(16)}`,
      password: '',
      display_name: '',
      email: '',
      github_id: '',
      github_account_id: '',
      wechat_id: '',
      lark_id: '',
      oidc_id: '',
      aff_code: null,
    })
    .where('id', '=', id)
    .execute()
  await forgetRecordings(trx, 'user', id)
}
