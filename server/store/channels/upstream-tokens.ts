import type { Db, Trx } from '../store.ts'

/** A stored upstream token, with which a provider logs in to its service. The value is encrypted. */
export interface StoredToken {
  value: string
  /** Epoch seconds. */
  expiresTime: number
}

/** The token stored under a name; undefined if there is none. */
export async function storedToken(db: Db, nameHash: string): Promise<StoredToken | undefined> {
  const row = await db
    .selectFrom('access_tokens')
    .select(['value', 'expires_time'])
    .where('name_hash', '=', nameHash)
    .executeTakeFirst()
  return row && { value: row.value, expiresTime: Number(row.expires_time) }
}

/** Stores a token under a name, replacing an older token. Deletes tokens that expired before `nowSeconds`. */
export async function storeToken(trx: Trx, nameHash: string, token: StoredToken, nowSeconds: number): Promise<void> {
  await trx.deleteFrom('access_tokens').where('expires_time', '<', nowSeconds).execute()
  const row = { value: token.value, expires_time: token.expiresTime }
  await trx
    .insertInto('access_tokens')
    .values({ name_hash: nameHash, ...row })
    .onConflict((conflict) => conflict.column('name_hash').doUpdateSet(row))
    .execute()
}
