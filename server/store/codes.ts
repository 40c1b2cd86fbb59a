import { needsRowLocks } from './search.ts'
import type { Trx } from './store.ts'

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
  const row = await trx
    .selectFrom('one_time_codes')
    .select(['id', 'code_hash', 'attempts', 'expires_time'])
    .where('purpose', '=', code.purpose)
    .where('subject', '=', code.subject)
    .$if(needsRowLocks(trx), (query) => query.forUpdate())
    .executeTakeFirst()
  if (!row || row.expires_time <= nowSeconds || row.attempts >= maxAttempts) return false
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

/** Removes what nobody can use any more; for an hourly job. */
export async function deleteExpiredCodes(trx: Trx, nowSeconds: number): Promise<void> {
  await trx.deleteFrom('one_time_codes').where('expires_time', '<=', nowSeconds).execute()
}
