import { type Selectable, sql } from 'kysely'
import { latinLookalike } from '../../../contract/api/scripts.ts'
import { userStatus } from '../../../contract/statuses.ts'
import type { UsersTable } from '../schema/tables.ts'
import { idOf, needsRowLocks, startsWith } from '../statements/conditions.ts'
import { type Listed, listPage, type Page } from '../statements/page.ts'
import type { Db, Trx } from '../store.ts'
import { leasedOfUser, withLeasesOfUser } from './leased.ts'

const columns = [
  'id',
  'username',
  'display_name',
  'role',
  'status',
  'email',
  'github_id',
  'wechat_id',
  'lark_id',
  'oidc_id',
  'used_quota',
  'request_count',
  'group',
  'aff_code',
  'inviter_id',
  'created_time',
  'rpm_limit',
  'tpm_limit',
  'concurrency_limit',
  'daily_budget',
  'monthly_budget',
  'spent_today',
  'spent_month',
  'spent_at',
] as const

/** A user's balance, including the part that processes have leased. */
const balance = sql<number>`users.quota + ${leasedOfUser('users.id')}`

/** A user without the secret columns. `quota` includes the part that processes have leased. */
export type UserRow = Pick<Selectable<UsersTable>, (typeof columns)[number] | 'quota'>

/** Accounts that were not deleted. A deleted account keeps its row, so that logs and usage sums keep their owner. */
function living(db: Db) {
  return db.selectFrom('users').where('status', '<>', userStatus.deleted)
}

/** Which users to list; 0 and '' mean any. */
export interface UserFilter {
  role: number
  status: number
  group: string
  /** Only users with a balance below this. */
  quota_below: number
}

export function listUsers(
  db: Db,
  page: Page<keyof UserRow>,
  filter: UserFilter,
  keyword = '',
): Promise<Listed<UserRow>> {
  const { role, status, group, quota_below } = filter
  const matching = living(db)
    .$if(role !== 0, (query) => query.where('role', '=', role))
    .$if(status !== 0, (query) => query.where('status', '=', status))
    .$if(group !== '', (query) => query.where('group', '=', group))
    .$if(quota_below !== 0, (query) => query.where(balance, '<', quota_below))
    .$if(keyword !== '', (query) =>
      query.where((eb) =>
        eb.or([
          eb('id', '=', idOf(keyword)),
          startsWith(eb.ref('username'), keyword),
          startsWith(eb.ref('display_name'), keyword),
          startsWith(eb.ref('email'), keyword),
        ]),
      ),
    )
  return listPage(db, matching, (query) => query.select(columns).select(balance.as('quota')), page)
}

export function userById(db: Db, id: number): Promise<UserRow | undefined> {
  return living(db).select(columns).select(balance.as('quota')).where('id', '=', id).executeTakeFirst()
}

/** Reads a user in order to change it. Nobody else can change the row until the transaction ends. */
export async function lockUser(trx: Trx, by: { id: number } | { username: string }): Promise<UserRow | undefined> {
  const locking = living(trx)
    .select([...columns, 'quota'])
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
  const lookup = 'id' in by ? locking.where('id', '=', by.id) : locking.where('username', '=', by.username)
  // Leases are read after the row is locked, because from then on none can be taken or returned.
  return withLeasesOfUser(trx, await lookup.executeTakeFirst())
}

/** Locks all accounts that a change affects, in id order, so that no two changes deadlock. */
export async function lockUsers(trx: Trx, ids: readonly number[]): Promise<void> {
  if (!needsRowLocks(trx)) return
  await trx.selectFrom('users').select('id').where('id', 'in', ids).orderBy('id').forUpdate().execute()
}

/** The id of the account with exactly this name. */
export async function idOfUsername(db: Db, username: string): Promise<number | undefined> {
  return (await living(db).select('id').where('username', '=', username).executeTakeFirst())?.id
}

/**
 * True while an account is enabled and has the password that was just verified. The row is locked, so a ban or a
 * password change waits until this transaction has created the session, and then ends that session, too.
 */
export async function lockLogin(trx: Trx, id: number, passwordHash: string): Promise<boolean> {
  const row = await trx
    .selectFrom('users')
    .select(['password', 'status'])
    .where('id', '=', id)
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .executeTakeFirst()
  return row?.status === userStatus.enabled && row.password === passwordHash
}

/**
 * The account for a name that a person types at login: the account with this username or, if there is none, the only
 * account with this email address.
 */
export async function userForLogin(db: Db, name: string) {
  const find = () => living(db).select(['id', 'username', 'display_name', 'password', 'role', 'status', 'group'])
  const named = (username: string) => find().where('username', '=', username).executeTakeFirst()
  // Some keyboards send one letter as several characters. Stored names are normalised, so the normalised name is tried
  // second.
  const byName = (await named(name)) ?? (await named(name.normalize('NFKC')))
  if (byName || name === '') return byName
  const byEmail = await find()
    .where((eb) => eb.fn<string>('lower', ['email']), '=', name.toLowerCase())
    .limit(2)
    .execute()
  return byEmail.length === 1 ? byEmail[0] : undefined
}

/**
 * Reserves a username for this transaction. Returns false if another account has the name, or if another open
 * transaction has reserved it. The function never waits for a lock, because the other transaction could be waiting for
 * a row that this one has locked.
 */
export async function takeUsername(trx: Trx, username: string, exceptId = 0): Promise<boolean> {
  if (needsRowLocks(trx)) {
    const lock = sql<{ taken: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${`username ${username.toLowerCase()}`}, 0)) as taken`
    const { rows } = await lock.execute(trx)
    if (!rows[0]?.taken) return false
  }
  return !(await usernameTaken(trx, username, exceptId))
}

/**
 * True if another account has this name (ignoring case in any script) or a look-alike name in another alphabet. Two
 * accounts must not have look-alike names.
 */
export async function usernameTaken(db: Db, username: string, exceptId = 0): Promise<boolean> {
  const others = db.selectFrom('users').select('username').where('id', '<>', exceptId)
  const lower = username.toLowerCase()
  const sameName = await others
    .where((eb) => eb.fn<string>('lower', ['username']), 'in', [username, lower, latinLookalike(username) ?? lower])
    .executeTakeFirst()
  if (sameName || !hasOtherCase(username)) return sameName !== undefined
  // Databases differ in how they ignore case. SQLite ignores it only for ASCII letters.
  const alike = await others.where(sql<number>`length(username)`, '=', [...username].length).execute()
  const shown = latinLookalike(username) ?? lower
  return alike.some(({ username: other }) => (latinLookalike(other) ?? other.toLowerCase()) === shown)
}

/** True for a name that contains non-ASCII letters that have an upper and a lower case. */
function hasOtherCase(name: string): boolean {
  const others = name.replaceAll(/\p{ASCII}/gu, '')
  return others.toLowerCase() !== others.toUpperCase()
}

/** The time at which the first account was created, in epoch seconds; 0 if there is none. */
export async function installedAt(db: Db): Promise<number> {
  const first = await db.selectFrom('users').select('created_time').orderBy('id').limit(1).executeTakeFirst()
  return first?.created_time ?? 0
}
