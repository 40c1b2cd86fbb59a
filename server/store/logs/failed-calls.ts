import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { LogRow } from '../schema/ledger-types.ts'
import type { Db, Store, Trx } from '../store.ts'
import type { LogRow as StoredRow } from './log-pages.ts'

/** Failed calls of one token with one error code that are waiting to be written. */
export interface FailedCalls {
  tokenId: number
  code: string
  /** The rows of calls that each get their own row if the limit per minute allows it. */
  rows: readonly LogRow[]
  /** Calls that share one row; undefined if there are none, or if the row must not be written yet. */
  shared: SharedRow | undefined
}

/** Failed calls that share one row. */
export interface SharedRow {
  /** The row of the first call. */
  row: LogRow
  /** The number of calls, including the first. */
  calls: number
  /** Epoch seconds at which the first call began. */
  since: number
}

/**
 * The number of failed calls with the same token and code that get their own row in each minute, on all nodes together.
 */
export const failedRowsPerMinute = 100

const minuteSeconds = 60
/** Rows per statement. */
const rowsPerInsert = 100
/** The maximum number of shared rows that are shown for a call without a row of its own. */
const mostShared = 20

/**
 * Writes the rows that the limit per minute allows. Calls beyond the limit share one row, and such a row is written at
 * most once a second. Returns, for each entry, the calls whose shared row has not been written yet. With `atOnce`,
 * shared rows are written now, no matter when the last one was written. All nodes must sort their entries in the same
 * way, so that two nodes cannot deadlock.
 */
export async function addFailedCalls(
  trx: Trx,
  entries: readonly FailedCalls[],
  now: number,
  atOnce = false,
): Promise<(SharedRow | undefined)[]> {
  const rows: LogRow[] = []
  const waiting: (SharedRow | undefined)[] = []
  for (const entry of entries) {
    const own = entry.rows.length === 0 ? 0 : await takeFromMinute(trx, entry, now)
    rows.push(...entry.rows.slice(0, own))
    const shared = withOthers(entry.shared, entry.rows.slice(own))
    const isDue = shared !== undefined && (await takeSecond(trx, entry, now, atOnce))
    if (isDue) rows.push(rowOf(shared, now))
    waiting.push(isDue ? undefined : shared)
  }
  for (let at = 0; at < rows.length; at += rowsPerInsert) {
    const values = rows.slice(at, at + rowsPerInsert).map((row) => ({ ...row, quota: 0 }))
    await trx.insertInto('logs').values(values).execute()
  }
  return waiting
}

/** Counts the rows in the current minute, and returns how many of them the limit allows. */
async function takeFromMinute(trx: Trx, { tokenId, code, rows }: FailedCalls, now: number): Promise<number> {
  const minute = Math.floor(now / minuteSeconds)
  const taken = await sql<{ log_rows: number }>`
    insert into error_minutes (token_id, code, minute, log_rows) values (${tokenId}, ${code}, ${minute}, ${rows.length})
    on conflict (token_id, code) do update set
      log_rows = excluded.log_rows + case when error_minutes.minute = excluded.minute then error_minutes.log_rows else 0 end,
      minute = excluded.minute
    returning log_rows`.execute(trx)
  const before = (taken.rows[0]?.log_rows ?? rows.length) - rows.length
  return Math.max(0, Math.min(rows.length, failedRowsPerMinute - before))
}

/**
 * Returns true if a shared row may be written now. This is so on only one node in each second, or always with `atOnce`.
 */
async function takeSecond(trx: Trx, { tokenId, code }: FailedCalls, now: number, atOnce: boolean): Promise<boolean> {
  if (atOnce) return true
  const taken = await sql`
    insert into error_minutes (token_id, code, summed_at) values (${tokenId}, ${code}, ${now})
    on conflict (token_id, code) do update set summed_at = excluded.summed_at
    where error_minutes.summed_at < excluded.summed_at
    returning summed_at`.execute(trx)
  return taken.rows.length > 0
}

function withOthers(shared: SharedRow | undefined, rows: readonly LogRow[]): SharedRow | undefined {
  const [row] = rows
  if (!row) return shared
  const since = Math.min(...rows.map((each) => each.created_at - Math.ceil(each.elapsed_time / 1000)))
  return joined({ row, calls: rows.length, since }, shared)
}

/** Merges two shared rows into one. */
export function joined(first: SharedRow | undefined, second: SharedRow | undefined): SharedRow | undefined {
  if (!first || !second) return first ?? second
  return { row: first.row, calls: first.calls + second.calls, since: Math.min(first.since, second.since) }
}

/** The row that several calls share. Its content also contains the number of calls. */
function rowOf({ row, calls, since }: SharedRow, now: number): LogRow {
  const others = calls - 1
  if (others === 0) return row
  const more = `${others} more failed ${others === 1 ? 'call' : 'calls'} with this code, omitted from the log`
  return { ...row, content: `${row.content} (${more})`, created_at: now, left_out: others, left_out_since: since }
}

/** Deletes the counts of past minutes. */
export async function forgetErrorMinutes(store: Store, now: number): Promise<void> {
  const past = Math.floor(now / minuteSeconds) - 1
  await store.write((trx) => trx.deleteFrom('error_minutes').where('minute', '<', past).execute())
}

/**
 * The shared rows that can include a call that began at `beganAt` and failed before `until` (epoch seconds). If a user
 * is given, only the rows of that user.
 */
export function sharedRowsAt(
  db: Db,
  { beganAt, until, firstId, userId }: { beganAt: number; until: number; firstId: number; userId?: number | undefined },
): Promise<StoredRow[]> {
  return db
    .selectFrom('logs')
    .selectAll()
    .where('type', '=', sql<number>`${sql.lit(logType.error)}`)
    .where('id', '>=', firstId)
    .where('left_out', '>', 0)
    .where('left_out_since', '<=', beganAt)
    .where('created_at', '>=', beganAt)
    .where('created_at', '<=', until)
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0))
    .orderBy('id')
    .limit(mostShared)
    .execute()
}
