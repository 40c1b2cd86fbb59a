import type { Db, Trx } from './store.ts'

/** All stored options; keys at their default have no row. */
export function optionRows(db: Db): Promise<{ key: string; value: string }[]> {
  return db.selectFrom('options').select(['key', 'value']).execute()
}

/** Writes one option. */
export async function saveOption(trx: Trx, key: string, value: string): Promise<void> {
  await trx
    .insertInto('options')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
}
