import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../store.ts'
import { dayHours, hourSeconds, hoursOf } from './usage-series.ts'

/**
 * The condition for log rows `l` since a time (epoch seconds). The lowest id of these rows is taken from the hourly
 * sums, so that older rows need not be read.
 */
export function rowsSince(seconds: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`l.id >= ${firstIdSince(seconds)} and l.created_at >= ${seconds}`
}

function firstIdSince(seconds: number): RawBuilder<number> {
  const hour = Math.floor(seconds / hourSeconds)
  // The range ends later than any row, except rows that were written with a wrong clock.
  const hours = hoursOf({ from: hour, to: hour + 60 * dayHours })
  return sql<number>`coalesce(
    (select min(u.first_id) from usage_series s ${hours} and s.kind = 'all' and u.log_rows > 0),
    (select folded_to + 1 from usage_state))`
}

/**
 * The lowest and the highest id that rows since a time (epoch seconds) can have. The highest id is 0 if the log is
 * empty.
 */
export async function idsSince(db: Db, seconds: number): Promise<{ first: number; last: number }> {
  const { rows } = await sql<{ first: number; last: number }>`
    select ${firstIdSince(seconds)} as first, coalesce((select max(id) from logs), 0) as last`.execute(db)
  return rows[0] ?? { first: 0, last: 0 }
}
