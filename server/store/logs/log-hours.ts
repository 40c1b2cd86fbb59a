import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../store.ts'
import { inHourOf, splitRange } from '../usage/usage-range.ts'
import {
  figureOfRow,
  hourSeconds,
  hoursOf,
  kindFor,
  matches,
  type RowFilter,
  uncounted,
} from '../usage/usage-series.ts'
import type { OutcomeFilter } from './log-outcome.ts'

/**
 * Filters log rows. 0, '' and absent fields match any value. Times are inclusive. The functions of this file ignore
 * outcomes, because the hourly sums do not contain them.
 */
export interface LogFilter extends RowFilter, OutcomeFilter {
  start_timestamp: number
  end_timestamp: number
}

/** An hour with matching rows: their number, and the range of their ids. */
export interface LogHour {
  /** Hours since 1970. */
  hour: number
  rows: number
  firstId: number
  lastId: number
}

const hourOfRow = sql.raw(`l.created_at / ${hourSeconds}`)

/**
 * A query for the numbers and id ranges of the existing log rows that match, by hour and type. Its columns are `hour`,
 * `type`, `rows`, `failed`, `first_id` and `last_id`. It sees one snapshot. The sums still contain failures whose rows
 * have been deleted, so `failed` is limited to `rows`.
 */
function rowsByHour(filter: LogFilter): RawBuilder<unknown> {
  const { whole, edges, from, until } = splitRange(filter.start_timestamp, filter.end_timestamp)
  const ofRows = (where: RawBuilder<unknown>, range: { from: number; until: number }) => sql`
    union all
    select ${hourOfRow}, l.type, count(*), sum(${sql.raw(figureOfRow.failed)}), min(l.id), max(l.id) from logs l
    where ${where} and ${matches('l', filter)} and l.created_at >= ${range.from} and l.created_at < ${range.until}
    group by ${hourOfRow}, l.type`
  return sql`
    select u.slot as hour, s.type, u.log_rows as rows,
      case when u.failed < u.log_rows then u.failed else u.log_rows end as failed, u.first_id, u.last_id
    from usage_series s ${hoursOf(whole)} and s.kind = ${kindFor(filter)} and ${matches('s', filter)} and u.log_rows > 0
    ${ofRows(uncounted, { from, until })}
    ${
      edges.length === 0
        ? sql``
        : sql.join(
            edges.map((edge) => ofRows(inHourOf(edge), edge)),
            sql` `,
          )
    }`
}

/** The hours with matching rows, newest first. */
export async function logHours(db: Db, filter: LogFilter): Promise<LogHour[]> {
  const { rows } = await sql<LogHour>`
    select hour, cast(sum(rows) as bigint) as rows, min(first_id) as "firstId", max(last_id) as "lastId"
    from (${rowsByHour(filter)}) found group by hour order by hour desc`.execute(db)
  return rows
}

/** The hours with the rows of one part of a list, in the order of the list. */
export interface LogStretch {
  /** The number of rows in the whole list. */
  total: number
  /** The number of rows of the first hour that come before this part. */
  skip: number
  hours: LogHour[]
}

/**
 * Finds the hours of a part of the list from the hourly sums, so that the rows before and after the part need not be
 * read.
 */
export async function logStretch(
  db: Db,
  filter: LogFilter,
  { offset, limit, descending }: { offset: number; limit: number; descending: boolean },
): Promise<LogStretch> {
  const { rows } = await sql<LogHour & { upto: number }>`
    with found as (${rowsByHour(filter)}),
    grouped as materialized (
      select hour, cast(sum(rows) as bigint) as rows, min(first_id) as first_id, max(last_id) as last_id
      from found group by hour
    ),
    placed as (
      select grouped.*, cast(sum(rows) over (order by hour ${sql.raw(descending ? 'desc' : 'asc')}) as bigint) as upto
      from grouped
    )
    select hour, rows, first_id as "firstId", last_id as "lastId", upto from placed
    where upto > ${offset} and upto - rows < ${offset + limit}
    union all
    select 0, cast(coalesce(sum(rows), 0) as bigint), 0, 0, 0 from grouped
    order by 5`.execute(db)
  const [all, ...hours] = rows
  const first = hours[0]
  return { total: all?.rows ?? 0, skip: first ? offset - (first.upto - first.rows) : 0, hours }
}

/** The number of rows of a type in a bucket, and the number of failed or interrupted calls among them. */
export interface RowCount {
  bucket: number
  type: number
  rows: number
  failed: number
}

/**
 * Counts rows by type in buckets of whole hours, from the hourly sums. `shift` (minutes) moves the start of the
 * buckets.
 */
export async function countByHour(
  db: Db,
  filter: LogFilter,
  bucket: { minutes: number; shift: number },
): Promise<RowCount[]> {
  const bucketNumber = sql.raw(`(hour * 60 + ${bucket.shift}) / ${bucket.minutes}`)
  const { rows } = await sql<RowCount>`
    select ${bucketNumber} as bucket, type, cast(sum(rows) as bigint) as rows, cast(sum(failed) as bigint) as failed
    from (${rowsByHour(filter)}) found group by ${bucketNumber}, type order by 1, 2`.execute(db)
  return rows
}

/**
 * Counts rows by type in buckets of `seconds` seconds. Reads the rows themselves, so it is meant for ranges with few
 * rows.
 */
export async function countBySecond(
  db: Db,
  filter: LogFilter,
  hours: readonly LogHour[],
  seconds: number,
): Promise<RowCount[]> {
  const first = Math.min(...hours.map((each) => each.firstId))
  const last = Math.max(...hours.map((each) => each.lastId))
  const { from, until } = splitRange(filter.start_timestamp, filter.end_timestamp)
  const bucketNumber = sql.raw(`l.created_at / ${seconds}`)
  const { rows } = await sql<RowCount>`
    select ${bucketNumber} as bucket, l.type, count(*) as rows,
      cast(sum(${sql.raw(figureOfRow.failed)}) as bigint) as failed from logs l
    where l.id between ${first} and ${last} and l.created_at >= ${from} and l.created_at < ${until} and ${matches('l', filter)}
    group by ${bucketNumber}, l.type order by 1, 2`.execute(db)
  return rows
}
