import { sql } from 'kysely'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Store, Trx } from '../store.ts'

/** An option as stored. */
export interface OptionRow {
  key: string
  value: string
  /** True if `value` is encrypted. */
  sealed: boolean
}

/** All stored options. An option at its default has no row. */
export async function optionRows(db: Db): Promise<OptionRow[]> {
  const rows = await db.selectFrom('options').select(['key', 'value', 'sealed']).orderBy('key').execute()
  return rows.map((row) => ({ ...row, sealed: Boolean(row.sealed) }))
}

/** Writes one option. */
export async function saveOption(trx: Trx, key: string, value: string, sealed = false): Promise<void> {
  await trx
    .insertInto('options')
    .values({ key, value, sealed })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value, sealed }))
    .execute()
}

/**
 * Encrypts the rows of `keys` that are stored in plain text, and returns their keys. On SQLite, no plain text remains
 * in the database files.
 */
export async function sealOptionRows(
  store: Store,
  keys: readonly string[],
  seal: (row: OptionRow) => string,
): Promise<string[]> {
  const sealedKeys = await store.write(async (trx) => {
    const rows = await trx
      .selectFrom('options')
      .select(['key', 'value', 'sealed'])
      .where('key', 'in', [...keys])
      .where('sealed', '=', sql<boolean>`false`)
      .where('value', '<>', '')
      .$if(needsRowLocks(trx), (query) => query.forUpdate())
      .execute()
    const isSqlite = store.dialect === 'sqlite'
    if (isSqlite && rows.length > 0) await sql`pragma secure_delete = on`.execute(trx)
    for (const row of rows) await saveOption(trx, row.key, seal(row), true)
    if (isSqlite && rows.length > 0) await sql`pragma secure_delete = off`.execute(trx)
    return rows.map((row) => row.key)
  })
  // The write-ahead log still contains the old pages, so it is truncated.
  if (store.dialect === 'sqlite' && sealedKeys.length > 0)
    await sql`pragma wal_checkpoint(truncate)`.execute(store.read)
  return sealedKeys
}
