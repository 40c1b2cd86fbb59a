import { type RawBuilder, sql } from 'kysely'
import type { Listed, Page } from '../statements/page.ts'
import type { Db } from '../store.ts'
import { splitRange } from '../usage/usage-range.ts'
import { figureOfRow, matches } from '../usage/usage-series.ts'
import { type LogFilter, type LogHour, logHours, type RowCount } from './log-hours.ts'
import { hasOutcome, indexedConditions } from './log-outcome.ts'
import type { LogRow, LogSort } from './log-pages.ts'

/**
 * The hourly sums do not contain the outcomes of calls, so a query with an outcome searches the rows themselves, newest
 * first. If the outcome has an index, it reads at most `mostIndexed` rows of the index. For slow calls, which have no
 * index, and for the calls of one user, it reads the rows of whole hours, and always those of at least one hour.
 * Further hours are added while all of them together have at most `mostRows` rows that match the other filters, and
 * while their ids span at most `mostSpan` rows of the log. The span is not limited for one user.
 */
const mostIndexed = 20_000
const mostRows = 10_000
const mostSpan = 25_000

/** The rows `l` that a query with an outcome searches. */
interface Searched {
  /** A query for the rows. They match the filter, but not necessarily its outcome and its dimensions. */
  rows: RawBuilder<unknown>
  /** The maximum number of rows that are searched; undefined if all rows in the filter's time range are searched. */
  limit: number | undefined
}

async function searchedRows(db: Db, filter: LogFilter): Promise<Searched | undefined> {
  const hours = await logHours(db, filter)
  const conditions = filter.userId ? undefined : indexedConditions(filter)
  const taken = conditions ? hours : newestOf(hours, filter.userId ? Number.POSITIVE_INFINITY : mostSpan)
  if (taken.length === 0) return undefined
  const { from, until } = splitRange(filter.start_timestamp, filter.end_timestamp)
  const first = Math.min(...taken.map((each) => each.firstId))
  const last = Math.max(...taken.map((each) => each.lastId))
  const inRange = sql`l.id between ${first} and ${last} and l.created_at >= ${from} and l.created_at < ${until}`
  if (conditions) {
    // Each of the newest rows of all indexes together is also one of the newest rows of its index.
    const newest = conditions.map(
      (condition) =>
        sql`select id from (select l.id from logs l where ${condition} and ${inRange} order by l.id desc limit ${mostIndexed}) newest`,
    )
    const [only] = conditions
    const among =
      conditions.length === 1 ? sql`${only} and ${inRange}` : sql`l.id in (${sql.join(newest, sql` union `)})`
    return {
      rows: sql`select l.* from logs l where ${among} order by l.id desc limit ${mostIndexed}`,
      limit: mostIndexed,
    }
  }
  // Ids of rows of older hours may lie in the id range, so the rows are also restricted by time.
  const oldest = Math.min(...taken.map((each) => each.hour)) * 3600
  return {
    rows: sql`select l.* from logs l where ${inRange} and l.created_at >= ${oldest} and ${matches('l', filter)}`,
    limit: taken.length < hours.length ? rowsOf(taken) : undefined,
  }
}

const rowsOf = (hours: readonly LogHour[]) => hours.reduce((sum, hour) => sum + hour.rows, 0)

function newestOf(hours: readonly LogHour[], span: number): LogHour[] {
  const taken: LogHour[] = []
  let [rows, firstId, lastId] = [0, Number.POSITIVE_INFINITY, 0]
  for (const hour of hours) {
    rows += hour.rows
    firstId = Math.min(firstId, hour.firstId)
    lastId = Math.max(lastId, hour.lastId)
    if (taken.length > 0 && (rows > mostRows || lastId - firstId > span)) break
    taken.push(hour)
  }
  return taken
}

const wanted = (filter: LogFilter) => sql`${matches('l', filter)} and ${hasOutcome(filter)}`

/** One page of the calls with an outcome among the rows searched, and the number of such calls. */
export async function listByOutcome(db: Db, filter: LogFilter, page: Page<LogSort>): Promise<Listed<LogRow>> {
  const searched = await searchedRows(db, filter)
  if (!searched) return { rows: [], total: 0 }
  const direction = sql.raw(page.descending ? 'desc' : 'asc')
  const order = page.sort === 'id' ? sql`` : sql`${sql.ref(`l.${page.sort}`)} ${direction}, `
  const counted = await sql<{ candidates: number; total: number }>`
    select count(*) as candidates, cast(coalesce(sum(case when ${wanted(filter)} then 1 else 0 end), 0) as bigint) as total
    from (${searched.rows}) l`.execute(db)
  const { candidates, total } = counted.rows[0] ?? { candidates: 0, total: 0 }
  const { rows } = await sql<LogRow>`
    select l.* from (${searched.rows}) l where ${wanted(filter)}
    order by ${order}l.id ${direction} limit ${page.limit} offset ${page.offset}`.execute(db)
  const isCut = searched.limit !== undefined && candidates >= searched.limit
  return { rows, total, ...(isCut && { searched: candidates }) }
}

/** The sums over the calls with an outcome among the rows searched. The type in the filter is ignored. */
export async function sumByOutcome(db: Db, filter: LogFilter) {
  const ofCalls = { ...filter, type: 0 }
  const searched = await searchedRows(db, ofCalls)
  if (!searched) return noCalls
  const { rows } = await sql<typeof noCalls>`
    select cast(coalesce(sum(l.quota), 0) as bigint) as quota,
      cast(coalesce(sum(l.prompt_tokens + l.completion_tokens), 0) as bigint) as token,
      count(*) as calls,
      cast(coalesce(sum(case when l.type = 6 then 1 else ${sql.raw(figureOfRow.failed)} end), 0) as bigint) as failed
    from (${searched.rows}) l where ${wanted(ofCalls)} and l.type in (2, 6)`.execute(db)
  return rows[0] ?? noCalls
}

const noCalls = { quota: 0, token: 0, calls: 0, failed: 0 }

/**
 * Counts the calls with an outcome among the rows searched, in buckets of `seconds`. `shift` moves the start of the
 * buckets.
 */
export async function countByOutcome(
  db: Db,
  filter: LogFilter,
  { seconds, shift }: { seconds: number; shift: number },
): Promise<RowCount[]> {
  const searched = await searchedRows(db, filter)
  if (!searched) return []
  const bucket = sql.raw(`(l.created_at + ${shift}) / ${seconds}`)
  const { rows } = await sql<RowCount>`
    select ${bucket} as bucket, l.type, count(*) as rows, cast(sum(${sql.raw(figureOfRow.failed)}) as bigint) as failed
    from (${searched.rows}) l where ${wanted(filter)} group by ${bucket}, l.type order by 1, 2`.execute(db)
  return rows
}
