import { sql } from 'kysely'
import { afterDelta } from '../accounts/leased.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Trx } from '../store.ts'

/** The tables of accounts whose usage is logged. */
export type BookedTable = 'users' | 'tokens' | 'channels'

/**
 * Corrects the unlogged quota of accounts after log rows were written. Unlogged quota is used quota without log rows.
 * `sums` contains, for each account, the quota of the new rows, which is therefore no longer unlogged. Account rows are
 * locked in id order, users first.
 */
export async function bookLogged(
  trx: Trx,
  sums: Readonly<Record<BookedTable, ReadonlyMap<number, number>>>,
): Promise<void> {
  for (const table of ['users', 'tokens', 'channels'] as const) {
    const rows = [...sums[table]].filter(([id, quota]) => id > 0 && quota !== 0).sort(([a], [b]) => a - b)
    if (rows.length === 0) continue
    const logged = needsRowLocks(trx)
      ? sql`(select (value ->> 0)::bigint as id, (value ->> 1)::bigint as quota
          from jsonb_array_elements(${JSON.stringify(rows)}::jsonb)) as logged`
      : sql`(select value ->> '$[0]' as id, value ->> '$[1]' as quota from json_each(${JSON.stringify(rows)})) as logged`
    const target = sql.table(table)
    if (needsRowLocks(trx))
      await sql`select id from ${target} where id = any(${rows.map(([id]) => id)}) order by id for update`.execute(trx)
    await sql`update ${target} set unlogged_quota = unlogged_quota - logged.quota from ${logged}
      where ${target}.id = logged.id`.execute(trx)
  }
}

/** The changes of an account's figures in the source since they were last imported. */
export interface Change {
  quota: number
  used: number
  requests: number
}

/**
 * Adds the changes in the source to an account in this installation. The usage counts as unlogged, because its log rows
 * have not been imported yet.
 */
export async function bookChange(trx: Trx, table: BookedTable, id: number, change: Change): Promise<void> {
  const { quota, used, requests } = change
  if (table === 'channels') {
    await sql`update channels set used_quota = used_quota + ${used}, unlogged_quota = unlogged_quota + ${used}
      where id = ${id}`.execute(trx)
    return
  }
  const column = table === 'users' ? 'quota' : 'remain_quota'
  const left = sql.ref(column)
  // If the balance was also spent in this installation, it may not cover the amount spent in the source. It then
  // becomes 0, unless it is already below 0.
  const after = afterDelta(column, quota)
  const counted = table === 'users' ? sql`request_count = request_count + ${requests},` : sql``
  await sql`update ${sql.table(table)} set ${counted}
    granted_quota = granted_quota + ${used} + (${after}) - ${left},
    ${left} = ${after}, used_quota = used_quota + ${used}, unlogged_quota = unlogged_quota + ${used}
    where id = ${id}`.execute(trx)
}
