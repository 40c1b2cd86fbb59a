import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { Store, Trx } from '../store.ts'
import { forgetRows, lockUsage, rollUpUsage } from '../usage/usage-rollup.ts'
import { hourSeconds, hoursOf } from '../usage/usage-series.ts'
import type { LogHour } from './log-hours.ts'
import { countUnsent } from './log-sinks.ts'
import { dropExpired } from './partitions/drop-expired.ts'
import { covers } from './partitions/log-partitions.ts'
import type { PatientStore } from './partitions/take-over.ts'
import { unlogCaps } from './unlog-caps.ts'

/**
 * The number of rows that are deleted in one transaction. Small transactions do not delay the calls that are charged
 * during a purge of millions of rows.
 */
const rowsPerStep = 500

export interface PurgeOptions {
  /** Rows older than this are deleted. Epoch seconds. */
  before: number
  /** The current time in epoch seconds. */
  now: number
  /** Restricts the purge to rows of failed calls or to all other rows. By default, both are deleted. */
  only?: 'errors' | 'others'
  /** Called between two transactions. The purge waits for its promise. */
  pause?: () => Promise<unknown>
}

/**
 * Deletes the log rows older than `before` and returns how many. In the same transaction, their charges are added to
 * the `unlogged_quota` of user, token and channel, so that the used quota can still be verified from the logs. The
 * usage sums are kept. On PostgreSQL, partitions in which every row is to be deleted are dropped. All other rows are
 * deleted in small steps. If a partition that could be dropped is being read, its rows stay until the next purge.
 */
export async function purgeLogs(store: PatientStore, { before, now, only, pause }: PurgeOptions): Promise<number> {
  // Adds the rows to the usage sums before they are deleted. Otherwise their usage would be lost.
  await rollUpUsage(store, now)
  await countUnsent(store, sql<SqlBool>`created_at < ${before} and ${typesOf(only, 'type')}`, now)
  const isKept = only && sql<SqlBool>`not ${typesOf(only, 'type')}`
  const { rows: dropped, busy } = await dropExpired(store, { before, isKept })
  let total = dropped
  for (const hour of await hoursBefore(store, before, only)) {
    if (busy.some((each) => covers(each, hour.hour * hourSeconds))) continue
    for (;;) {
      const deleted = await store.write((trx) => purgeStep(trx, hour, before, only))
      total += deleted
      if (deleted < rowsPerStep) break
      await pause?.()
    }
  }
  return total
}

/** The condition on the types of rows. It uses literals, because the planner can match them with a partial index. */
function typesOf(only: PurgeOptions['only'], type: string): RawBuilder<SqlBool> {
  if (only === undefined) return sql<SqlBool>`true`
  return sql<SqlBool>`${sql.ref(type)} ${sql.raw(only === 'errors' ? '=' : '<>')} ${sql.lit(logType.error)}`
}

async function hoursBefore({ read }: Store, before: number, only: PurgeOptions['only']): Promise<LogHour[]> {
  const { rows } = await sql<LogHour>`
    select u.slot as hour, cast(sum(u.log_rows) as bigint) as rows, min(u.first_id) as "firstId", max(u.last_id) as "lastId"
    from usage_series s ${hoursOf({ from: 0, to: Math.ceil(before / hourSeconds) })} and s.kind = 'all' and u.log_rows > 0
      and ${typesOf(only, 's.type')}
    group by u.slot order by u.slot`.execute(read)
  return rows
}

async function purgeStep(
  trx: Trx,
  { hour, firstId, lastId }: LogHour,
  before: number,
  only: PurgeOptions['only'],
): Promise<number> {
  // If two purges run at the same time, each must account only for the rows that it deletes itself.
  const { folded_to } = await lockUsage(trx)
  const rows = await trx
    .selectFrom('logs')
    .select([
      ...(['id', 'type', 'quota', 'cost', 'user_id', 'token_id', 'channel_id'] as const),
      ...(['model_name', 'prompt_tokens', 'completion_tokens'] as const),
    ])
    .where('id', '>=', firstId)
    .where('id', '<=', Math.min(lastId, folded_to))
    .where('created_at', '>=', hour * hourSeconds)
    .where('created_at', '<', Math.min(before, (hour + 1) * hourSeconds))
    .where(typesOf(only, 'type'))
    .orderBy('id')
    .limit(rowsPerStep)
    .execute()
  if (rows.length === 0) return 0
  const charged = rows.filter((row) => row.type === logType.consume && row.quota !== 0)
  // Users come first, then tokens, then channels, each in id order. This is the ledger's lock order, so the purge and
  // the ledger cannot deadlock.
  for (const [table, column] of owners) {
    for (const [id, quota] of sumBy(charged, column)) {
      await trx
        .updateTable(table)
        .set((eb) => ({ unlogged_quota: eb('unlogged_quota', '+', quota) }))
        .where('id', '=', id)
        .execute()
    }
  }
  await unlogCaps(
    trx,
    rows.filter((row) => row.type === logType.consume),
  )
  const ids = rows.map((row) => row.id)
  await forgetRows(trx, ids)
  await trx
    .deleteFrom('logs')
    .where('id', 'in', ids)
    .where('created_at', '>=', hour * hourSeconds)
    .where('created_at', '<', (hour + 1) * hourSeconds)
    .execute()
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
