import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'

/** A code that can be used once; only its keyed hash is stored. */
export interface OneTimeCode {
  purpose: string
  /** Whom or what it is for; a new code replaces the one of the same purpose and subject. */
  subject: string
  code_hash: string
}

export async function saveCode(
  trx: Trx,
  code: OneTimeCode & { created_time: number; expires_time: number },
): Promise<void> {
  const { code_hash, created_time, expires_time } = code
  await trx
    .insertInto('one_time_codes')
    .values({ ...code, attempts: 0 })
    .onConflict((conflict) =>
      conflict.columns(['purpose', 'subject']).doUpdateSet({ code_hash, created_time, expires_time, attempts: 0 }),
    )
    .execute()
}

/**
 * True when this is the live code; it is used up then. A wrong one is counted, and after `maxAttempts` of them the code
 * is dead: the transaction must be committed in either case.
 */
export async function useCode(trx: Trx, code: OneTimeCode, nowSeconds: number, maxAttempts: number): Promise<boolean> {
  const row = await codeRow(trx, code, nowSeconds, maxAttempts)
  if (!row) return false
  if (row.code_hash !== code.code_hash) {
    await trx
      .updateTable('one_time_codes')
      .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
      .where('id', '=', row.id)
      .execute()
    return false
  }
  await trx.deleteFrom('one_time_codes').where('id', '=', row.id).execute()
  return true
}

/** True when `useCode` would say so now; nothing is counted and nothing used up. */
export async function isCode(db: Db, code: OneTimeCode, nowSeconds: number, maxAttempts: number): Promise<boolean> {
  return (await codeRow(db, code, nowSeconds, maxAttempts))?.code_hash === code.code_hash
}

/** The code of that purpose and subject while it lives; locked when a transaction asks. */
async function codeRow(
  db: Db,
  { purpose, subject }: OneTimeCode,
  nowSeconds: number,
  maxAttempts: number,
): Promise<{ id: number; code_hash: string } | undefined> {
  const row = await db
    .selectFrom('one_time_codes')
    .select(['id', 'code_hash', 'attempts', 'expires_time'])
    .where('purpose', '=', purpose)
    .where('subject', '=', subject)
    .$if(db.isTransaction && needsRowLocks(db), (query) => query.forUpdate())
    .executeTakeFirst()
  return row && row.expires_time > nowSeconds && row.attempts < maxAttempts ? row : undefined
}

/** Removes what nobody can use any more; for an hourly job. */
export async function deleteExpiredCodes(trx: Trx, nowSeconds: number): Promise<void> {
  await trx.deleteFrom('one_time_codes').where('expires_time', '<=', nowSeconds).execute()
}
