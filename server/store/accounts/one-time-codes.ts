import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'

/** A code that can be used once; only its keyed hash is stored. */
export interface OneTimeCode {
  purpose: string
  /** The person or thing that the code is for. A new code replaces an older one with the same purpose and subject. */
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
 * Returns true if this is the valid code. The code is then used up. Wrong codes are counted, and after `maxAttempts` of
 * them the valid code becomes invalid. The transaction must be committed in either case.
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

/** True if `useCode` would return true now. This counts nothing and uses up nothing. */
export async function isCode(db: Db, code: OneTimeCode, nowSeconds: number, maxAttempts: number): Promise<boolean> {
  return (await codeRow(db, code, nowSeconds, maxAttempts))?.code_hash === code.code_hash
}

/** The valid code for this purpose and subject. If this is called in a transaction, the row is locked. */
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

/** Deletes codes that can no longer be used. An hourly job calls this. */
export async function deleteExpiredCodes(trx: Trx, nowSeconds: number): Promise<void> {
  await trx.deleteFrom('one_time_codes').where('expires_time', '<=', nowSeconds).execute()
}
