import { sql } from 'kysely'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'

/** An arbitrary number for the lock that makes processes take turns if they start at the same time. */
const startLock = 7_041_977

const secretCheckKey = '_secret_check'

/** Waits until no other process is setting up the same database. The lock ends with the transaction. */
export async function lockInstallation(trx: Trx): Promise<void> {
  if (needsRowLocks(trx)) await sql`select pg_advisory_xact_lock(${startLock})`.execute(trx)
}

/** The check value for this database's secret key, derived from a fixed text; undefined if no key was ever used. */
export async function secretCheck(db: Db): Promise<string | undefined> {
  const row = await db.selectFrom('options').select('value').where('key', '=', secretCheckKey).executeTakeFirst()
  return row?.value
}

export async function saveSecretCheck(trx: Trx, value: string): Promise<void> {
  await trx.insertInto('options').values({ key: secretCheckKey, value }).execute()
}

/** Replaces the check value after everything in the database was encrypted under another key. */
export async function replaceSecretCheck(trx: Trx, value: string): Promise<void> {
  await trx.updateTable('options').set({ value }).where('key', '=', secretCheckKey).execute()
}

/** True if no account was ever created. */
export async function hasNoUsers(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) === undefined
}
