import { sql } from 'kysely'
import type { Db, Store } from '../store.ts'
import { lookedUp, matches, type RowFilter } from '../usage/usage-series.ts'
import { hasOutcome, type OutcomeFilter } from './log-outcome.ts'
import type { LogRow } from './log-pages.ts'

/** Reads new log rows as they are committed, each row once. */
export interface LogReader {
  /**
   * Returns at most `limit` rows that have been committed since the last call. The first call finds the end of the log
   * and returns no rows.
   */
  next(limit: number): Promise<LogRow[]>
}

/** Missing ids are looked up again for this long, because their transactions may still be open. */
const gapMs = 10_000
/**
 * The number of ids before the end of the log that are checked for missing ids when reading begins, and the maximum
 * number of missing ids that are looked up again.
 */
const gapSpan = 200
const mostGaps = 1000

/**
 * Creates a reader that follows the end of the log. On PostgreSQL, a row can be committed after rows with higher ids,
 * so missing ids are looked up again. On SQLite, this cannot happen.
 */
export function createLogReader({ read, dialect }: Store, nowMs: () => number): LogReader {
  let last: number | undefined
  const gaps = new Map<number, number>()

  function noteGaps(from: number, ids: readonly number[]): void {
    if (dialect === 'sqlite') return
    const there = new Set(ids)
    const to = ids.at(-1) ?? from
    const now = nowMs()
    for (let id = Math.max(from + 1, to - mostGaps); id < to; id++) if (!there.has(id)) gaps.set(id, now)
    for (const [id, since] of gaps) if (now - since > gapMs || gaps.size > mostGaps) gaps.delete(id)
  }

  async function begin(): Promise<void> {
    const newest = await read.selectFrom('logs').select('id').orderBy('id', 'desc').limit(gapSpan).execute()
    const ids = newest.map((row) => row.id).reverse()
    last = ids.at(-1) ?? 0
    noteGaps(Math.max(0, last - gapSpan), ids)
  }

  return {
    async next(limit) {
      if (last === undefined) {
        await begin()
        return []
      }
      const after = last
      const late =
        gaps.size === 0
          ? []
          : await read
              .selectFrom('logs')
              .selectAll()
              .where('id', 'in', [...gaps.keys()])
              .orderBy('id')
              .execute()
      for (const row of late) gaps.delete(row.id)
      const rows = await read
        .selectFrom('logs')
        .selectAll()
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute()
      last = rows.at(-1)?.id ?? after
      noteGaps(
        after,
        rows.map((row) => row.id),
      )
      return [...late, ...rows]
    },
  }
}

/** The newest rows after `id` that match, oldest first. Only the newest `depth` rows of the log are read. */
export async function rowsAfter(
  { read }: Store,
  filter: RowFilter & OutcomeFilter,
  { id, limit, depth }: { id: number; limit: number; depth: number },
): Promise<LogRow[]> {
  const rows = await read
    .selectFrom('logs as l')
    .selectAll()
    .where('id', '>', id)
    .where('id', '>', sql<number>`coalesce((select max(id) from logs), 0) - ${depth}`)
    .where(matches('l', filter))
    .where(hasOutcome(filter))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.reverse()
}

/**
 * Those of the given rows whose users and tokens are in the filter's groups and projects; all rows if the filter has
 * neither.
 */
export async function ofGroups(db: Db, filter: RowFilter, rows: readonly LogRow[]): Promise<readonly LogRow[]> {
  const sought = lookedUp(filter)
  if (rows.length === 0 || !sought) return rows
  const ids = rows.map(({ id }) => id)
  const found = await db
    .selectFrom('logs as l')
    .select('l.id')
    .where('l.id', 'in', ids)
    .where(matches('l', sought))
    .execute()
  const wanted = new Set(found.map(({ id }) => id))
  return rows.filter(({ id }) => wanted.has(id))
}
