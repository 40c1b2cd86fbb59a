import { logType } from '../../contract/log-types.ts'
import { needsRowLocks } from './search.ts'
import type { Store, Trx } from './store.ts'

/** Rows per transaction: a purge of millions must not hold up the calls that are charged meanwhile. */
const rowsPerStep = 2000

/**
 * Deletes the logs older than `before` (epoch seconds) and returns how many. What the deleted rows charged moves into
 * `unlogged_quota` of user, token and channel in the same transaction, so used quota can still be proved from the logs.
 */
export async function purgeLogs(store: Store, before: number): Promise<number> {
  let total = 0
  for (;;) {
    const deleted = await store.write((trx) => purgeStep(trx, before))
    total += deleted
    if (deleted < rowsPerStep) return total
  }
}

async function purgeStep(trx: Trx, before: number): Promise<number> {
  const rows = await trx
    .selectFrom('logs')
    .select(['id', 'type', 'quota', 'user_id', 'token_id', 'channel_id'])
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(rowsPerStep)
    // Two purges at once must each account for the rows that they delete themselves, and for no others.
    .$if(needsRowLocks(trx), (query) => query.forUpdate().skipLocked())
    .execute()
  if (rows.length === 0) return 0
  const charged = rows.filter((row) => row.type === logType.consume && row.quota !== 0)
  // Users, tokens, channels, each in id order: the order in which the ledger locks, so that they cannot deadlock.
  for (const [table, column] of owners) {
    for (const [id, quota] of sumBy(charged, column)) {
      await trx
        .updateTable(table)
        .set((eb) => ({ unlogged_quota: eb('unlogged_quota', '+', quota) }))
        .where('id', '=', id)
        .execute()
    }
  }
  const ids = rows.map((row) => row.id)
  await trx.deleteFrom('logs').where('id', 'in', ids).execute()
  return rows.length
}

const owners = [
  ['users', 'user_id'],
  ['tokens', 'token_id'],
  ['channels', 'channel_id'],
] as const

type Owner = (typeof owners)[number][1]

function sumBy(rows: readonly ({ quota: number } & Record<Owner, number>)[], column: Owner): [number, number][] {
  const sums = new Map<number, number>()
  for (const row of rows) sums.set(row[column], (sums.get(row[column]) ?? 0) + row.quota)
  return [...sums].sort(([a], [b]) => a - b)
}
