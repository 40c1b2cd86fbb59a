import { type Selectable, sql, type Updateable } from 'kysely'
import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import type { UsersTable } from '../schema/tables.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'

const columns = ['id', 'username', 'display_name', 'role', 'status', 'group', 'email', 'github_id'] as const

/** The part of an account that logins need. */
export type Account = Pick<Selectable<UsersTable>, (typeof columns)[number]>

/** The external identity by which an account is looked up. */
export type Identity = { github_account_id: string } | { wechat_id: string } | { importedGitHubLogin: string }

function living(db: Db) {
  return db.selectFrom('users').where('status', '<>', userStatus.deleted)
}

/**
 * Accounts with this identity. There is at most one, unless rows were imported. At most two are returned, because two
 * are enough to show that the identity is ambiguous.
 */
export function accountsByIdentity(db: Db, identity: Identity): Promise<Account[]> {
  const query = living(db).select(columns).limit(2)
  if ('github_account_id' in identity) {
    return query.where('github_account_id', '=', identity.github_account_id).execute()
  }
  if ('wechat_id' in identity) return query.where('wechat_id', '=', identity.wechat_id).execute()
  // Rows imported from one-api contain only the login name. The first login adds the GitHub account's id to the row.
  return query.where('github_id', '=', identity.importedGitHubLogin).where('github_account_id', '=', '').execute()
}

/** Accounts with this email address, compared case-insensitively. There is more than one only if rows were imported. */
export function accountsByMail(db: Db, email: string): Promise<Account[]> {
  return living(db)
    .select(columns)
    .where((eb) => eb.fn<string>('lower', ['email']), '=', email.toLowerCase())
    .limit(5)
    .execute()
}

/** The super admins with an email address. They get the emails about the installation. */
export function rootsWithMail(db: Db): Promise<Account[]> {
  return living(db)
    .select(columns)
    .where('role', '>=', roles.root)
    .where('status', '=', userStatus.enabled)
    .where('email', '<>', '')
    .execute()
}

/** The external identities to which an account is linked. */
export type Bindings = Pick<Updateable<UsersTable>, 'email' | 'github_id' | 'github_account_id' | 'wechat_id'>

export async function bindAccount(trx: Trx, id: number, bindings: Bindings): Promise<void> {
  await trx.updateTable('users').set(bindings).where('id', '=', id).execute()
}

/** Locks an identity until the transaction ends, so that two transactions cannot both find it free. */
export async function lockIdentity(trx: Trx, kind: 'email' | 'github' | 'wechat', value: string): Promise<void> {
  if (!needsRowLocks(trx)) return
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${kind} ${value.toLowerCase()}`}, 0))`.execute(trx)
}

/**
 * The enabled account to which an invite code belongs. Its row is locked, because the account is about to get quota.
 */
export function inviterOf(trx: Trx, affCode: string): Promise<{ id: number; username: string } | undefined> {
  return living(trx)
    .select(['id', 'username'])
    .where('aff_code', '=', affCode)
    .where('status', '=', userStatus.enabled)
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .executeTakeFirst()
}

/** The invite code of an account. If the account has none, `fresh` becomes its code. */
export async function affCodeOf(trx: Trx, id: number, fresh: string): Promise<string> {
  await trx
    .updateTable('users')
    .set({ aff_code: fresh })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('aff_code', 'is', null), eb('aff_code', '=', '')]))
    .execute()
  const row = await trx.selectFrom('users').select('aff_code').where('id', '=', id).executeTakeFirstOrThrow()
  return row.aff_code ?? ''
}
