import { type Selectable, sql } from 'kysely'
import type { LogsTable } from '../schema/tables.ts'
import type { Listed, Page } from '../statements/page.ts'
import type { Db } from '../store.ts'
import { splitRange } from '../usage/usage-range.ts'
import { hourSeconds, matches } from '../usage/usage-series.ts'
import { type LogFilter, type LogHour, logHours, logStretch } from './log-hours.ts'
import { hasOutcome } from './log-outcome.ts'

export type LogRow = Selectable<LogsTable>

/** Columns by which lists can be sorted. */
export type LogSort =
  | 'id'
  | 'created_at'
  | 'quota'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'elapsed_time'
  | 'first_byte_time'

/**
 * A list that is not sorted by time contains only the rows of the newest hours, and always those of at least one hour.
 * Further hours are added while all of them together have at most `sortedRows` matching rows, and while their ids span
 * at most `sortedSpan` rows of the log. The span is not limited in a list of one user, whose rows have an index.
 */
const sortedRows = 5000
const sortedSpan = 25_000

/**
 * One page of the list of a filter without outcomes, and the number of rows in the list. If the list may be truncated,
 * the result also contains the number of all rows that match. In lists by id or time, rows are sorted by hour, and by
 * that column within an hour.
 */
export async function listLogs(db: Db, filter: LogFilter, page: Page<LogSort>): Promise<Listed<LogRow>> {
  if (page.sort === 'id' || page.sort === 'created_at') return pageByTime(db, filter, page)
  const { total: matching, hours } = await logStretch(db, filter, { offset: 0, limit: sortedRows, descending: true })
  const newest = newestOf(hours, filter.userId ? Number.POSITIVE_INFINITY : sortedSpan)
  if (newest.length === 0) return { rows: [], total: 0, matching }
  const rows = await inHours(db, filter, newest)
    .orderBy(page.sort, page.descending ? 'desc' : 'asc')
    .orderBy('id', page.descending ? 'desc' : 'asc')
    .offset(page.offset)
    .limit(page.limit)
    .execute()
  return { rows, total: rowsOf(newest), matching }
}

async function pageByTime(db: Db, filter: LogFilter, page: Page<LogSort>): Promise<Listed<LogRow>> {
  const { limit, sort, descending } = page
  const direction = descending ? 'desc' : 'asc'
  const { total, skip, hours } = await logStretch(db, filter, page)
  const matches: LogRow[] = []
  for (let at = 0; matches.length < limit && at < hours.length; ) {
    const group = groupAt(hours, at, limit)
    const rows = await inHours(db, filter, group)
      .$if(group.length > 1, (query) => query.orderBy(hourOfRow, direction))
      .$if(sort === 'created_at', (query) => query.orderBy('created_at', direction))
      .orderBy('id', direction)
      .offset(at === 0 ? skip : 0)
      .limit(limit - matches.length)
      .execute()
    matches.push(...rows)
    at += group.length
  }
  return { rows: matches, total }
}

/** All matching rows of any age, newest first, in batches. Rows that are written in the meantime may be missing. */
export async function* walkLogs(db: Db, filter: LogFilter, rowsPerStep: number): AsyncGenerator<LogRow[]> {
  const hours = await logHours(db, filter)
  for (let at = 0; at < hours.length; ) {
    const group = groupAt(hours, at, rowsPerStep)
    at += group.length
    if (group.length === 1) {
      for await (const rows of walkHour(db, filter, group[0] as LogHour, rowsPerStep)) yield rows
    } else {
      yield await inHours(db, filter, group).orderBy(hourOfRow, 'desc').orderBy('id', 'desc').execute()
    }
  }
}

async function* walkHour(db: Db, filter: LogFilter, hour: LogHour, rowsPerStep: number): AsyncGenerator<LogRow[]> {
  let { lastId } = hour
  for (;;) {
    const rows = await inHours(db, filter, [{ ...hour, lastId }])
      .orderBy('id', 'desc')
      .limit(rowsPerStep)
      .execute()
    if (rows.length > 0) yield rows
    if (rows.length < rowsPerStep) return
    lastId = (rows.at(-1)?.id ?? 0) - 1
  }
}

/** Several hours with few rows are read in one query if their ids span no more than this. */
const groupSpan = 5000

/**
 * The hours, beginning at index `at`, that are read in one query: at least one hour, and several if together they have
 * few rows.
 */
function groupAt(hours: readonly LogHour[], at: number, mostRows: number): LogHour[] {
  const group: LogHour[] = []
  let [rows, firstId, lastId] = [0, Number.POSITIVE_INFINITY, 0]
  for (let hour = hours[at]; hour; hour = hours[at + group.length]) {
    rows += hour.rows
    firstId = Math.min(firstId, hour.firstId)
    lastId = Math.max(lastId, hour.lastId)
    if (group.length > 0 && (rows > mostRows || lastId - firstId > groupSpan)) break
    group.push(hour)
  }
  return group
}

const hourOfRow = sql.raw(`created_at / ${hourSeconds}`)

/** A query for the filter's rows in the given hours, which must be adjacent. */
function inHours(db: Db, filter: LogFilter, hours: readonly LogHour[]) {
  const { from, until } = splitRange(filter.start_timestamp, filter.end_timestamp)
  const oldest = Math.min(...hours.map((each) => each.hour)) * hourSeconds
  const newest = (Math.max(...hours.map((each) => each.hour)) + 1) * hourSeconds
  return db
    .selectFrom('logs as l')
    .selectAll()
    .where('id', '>=', Math.min(...hours.map((each) => each.firstId)))
    .where('id', '<=', Math.max(...hours.map((each) => each.lastId)))
    .where('created_at', '>=', Math.max(from, oldest))
    .where('created_at', '<', Math.min(until, newest))
    .where(matches('l', filter))
    .where(hasOutcome(filter))
}

function newestOf(hours: readonly LogHour[], span: number): LogHour[] {
  const taken: LogHour[] = []
  let rows = 0
  let firstId = Number.POSITIVE_INFINITY
  let lastId = 0
  for (const hour of hours) {
    firstId = Math.min(firstId, hour.firstId)
    lastId = Math.max(lastId, hour.lastId)
    if (taken.length > 0 && (rows + hour.rows > sortedRows || lastId - firstId > span)) break
    rows += hour.rows
    taken.push(hour)
  }
  return taken
}

const rowsOf = (hours: readonly LogHour[]) => hours.reduce((sum, hour) => sum + hour.rows, 0)
