import type { LeaseOfAccount } from '../schema/ledger-types.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Store } from '../store.ts'

/**
 * Returns the rest of a lease to its account. A lease is a part of a balance that a process took in advance. The rest
 * is returned only once, even if several processes call the function. No operation that is paid from the lease may be
 * in progress. Resolves with the number of units returned.
 */
export function returnLease(store: Pick<Store, 'write'>, { id, userId, tokenId }: LeaseOfAccount): Promise<number> {
  return store.write(async (trx) => {
    if (needsRowLocks(trx)) {
      // The rows are locked in the ledger's order.
      await trx.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
      await trx.selectFrom('tokens').select('id').where('id', '=', tokenId).forNoKeyUpdate().execute()
    }
    const lease = await trx.deleteFrom('leases').where('id', '=', id).returningAll().executeTakeFirst()
    const amount = Number(lease?.amount ?? 0)
    if (!lease || amount === 0) return 0
    await trx
      .updateTable('users')
      .set((eb) => ({ quota: eb('quota', '+', amount) }))
      .where('id', '=', userId)
      .execute()
    if (lease.token_limited)
      await trx
        .updateTable('tokens')
        .set((eb) => ({ remain_quota: eb('remain_quota', '+', amount) }))
        .where('id', '=', tokenId)
        .execute()
    return amount
  })
}

/** True if any process has a lease on the user's balance. */
export async function isLeased(db: Db, userId: number): Promise<boolean> {
  const row = await db.selectFrom('leases').select('id').where('user_id', '=', userId).limit(1).executeTakeFirst()
  return row !== undefined
}
