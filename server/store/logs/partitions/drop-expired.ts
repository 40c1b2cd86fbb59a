import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { logType } from '../../../../contract/log-types.ts'
import { isLockTimeout } from '../../statements/database-errors.ts'
import type { Trx } from '../../store.ts'
import { forgetHours, lockUsage } from '../../usage/usage-rollup.ts'
import { hourSeconds } from '../../usage/usage-series.ts'
import { addCapSums, capSumsOf } from '../unlog-caps.ts'
import { lockSoon } from './lock-soon.ts'
import { type LogPartition, logPartitions } from './log-partitions.ts'
import type { PatientStore } from './take-over.ts'

/** The result for the partitions in which all rows have expired. */
export interface DroppedPartitions {
  /** The number of rows that were deleted. */
  rows: number
  /** Partitions that are being read. The next attempt will drop them. */
  busy: LogPartition[]
}

/**
 * Drops the partitions of the log that end before `before` (epoch seconds) and have no rows to keep. `isKept` is the
 * condition for rows to keep. The charges of the deleted calls are first added to `unlogged_quota`, so that the used
 * quota can still be verified.
 */
export async function dropExpired(
  store: PatientStore,
  { before, isKept }: { before: number; isKept: RawBuilder<SqlBool> | undefined },
): Promise<DroppedPartitions> {
  const dropped: DroppedPartitions = { rows: 0, busy: [] }
  if (store.dialect !== 'postgres') return dropped
  const write = store.writeUnlimited ?? store.write
  for (const partition of await logPartitions(store.read)) {
    if (partition.until === undefined || partition.until > before) continue
    try {
      const rows = await write((trx) => emptied(trx, partition, isKept))
      if (rows === undefined) continue
      dropped.rows += rows
      await write((trx) => removeEmpty(trx, partition))
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      dropped.busy.push(partition)
    }
  }
  return dropped
}

/**
 * Empties a partition and returns the number of its rows; undefined if the partition must stay. While this function
 * reads the partition, only transactions that count, delete or import log rows have to wait. The locks for which calls
 * have to wait are held only for the last few statements.
 */
async function emptied(
  trx: Trx,
  { name, from, until }: LogPartition,
  isKept: RawBuilder<SqlBool> | undefined,
): Promise<number | undefined> {
  const { folded_to } = await lockUsage(trx)
  // Only an import writes rows this old, so only an import has to wait.
  await lockSoon(trx, name, 'share row exclusive')
  if (await mustStay(trx, { name, folded_to, isKept })) return undefined
  const { rows, ...charges } = await chargesOf(trx, name)
  const caps = await capSumsOf(trx, name)
  await forgetHours(trx, { from: from === undefined ? undefined : from / hourSeconds, to: Number(until) / hourSeconds })
  await lockSoon(trx, name, 'access exclusive')
  for (const table of ['users', 'tokens', 'channels'] as const) await unlog(trx, table, charges[table])
  await addCapSums(trx, caps)
  await sql.raw(`truncate ${name}`).execute(trx)
  return rows
}

/** True if the partition has a row to keep, or a row that the usage sums do not contain yet. */
async function mustStay(
  trx: Trx,
  { name, folded_to, isKept }: { name: string; folded_to: number; isKept: RawBuilder<SqlBool> | undefined },
): Promise<boolean> {
  for (const condition of [sql`id > ${folded_to}`, isKept]) {
    if (!condition) continue
    const { rows } = await sql`select 1 from ${sql.table(name)} where ${condition} limit 1`.execute(trx)
    if (rows.length > 0) return true
  }
  return false
}

type Sums = ReadonlyMap<number, number>

/** The charges of a partition's calls, and the number of its rows. */
interface Charges {
  rows: number
  users: Sums
  tokens: Sums
  channels: Sums
}

async function chargesOf(trx: Trx, name: string): Promise<Charges> {
  const { rows } = await sql<{ user_id: number; token_id: number; channel_id: number; rows: number; quota: number }>`
    select user_id, token_id, channel_id, count(*) as rows,
      coalesce(sum(quota) filter (where type = ${sql.lit(logType.consume)}), 0) as quota
    from ${sql.table(name)} group by user_id, token_id, channel_id`.execute(trx)
  const sumBy = (column: 'user_id' | 'token_id' | 'channel_id') => {
    const sums = new Map<number, number>()
    for (const row of rows) sums.set(row[column], (sums.get(row[column]) ?? 0) + Number(row.quota))
    return sums
  }
  return {
    rows: rows.reduce((sum, row) => sum + Number(row.rows), 0),
    users: sumBy('user_id'),
    tokens: sumBy('token_id'),
    channels: sumBy('channel_id'),
  }
}

/** Adds charges to `unlogged_quota`. Rows are locked in id order, as in the ledger. */
async function unlog(trx: Trx, table: 'users' | 'tokens' | 'channels', sums: Sums): Promise<void> {
  const ids = [...sums.keys()]
  const quotas = ids.map((id) => sums.get(id))
  await sql`select 1 from ${sql.table(table)} where id = any(${ids}::bigint[]) order by id for no key update`.execute(
    trx,
  )
  await sql`
    update ${sql.table(table)} a set unlogged_quota = a.unlogged_quota + s.quota
    from unnest(${ids}::bigint[], ${quotas}::bigint[]) as s(id, quota) where a.id = s.id`.execute(trx)
}

/**
 * Drops a partition if it is still empty. Calls have to wait for a moment, because the list of partitions changes.
 * `logs` and the partition are locked in one statement.
 */
async function removeEmpty(trx: Trx, { name }: LogPartition): Promise<void> {
  await lockSoon(trx, `only logs, ${name}`, 'access exclusive')
  const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(trx)
  if (rows.length === 0) await sql.raw(`drop table ${name}`).execute(trx)
}
