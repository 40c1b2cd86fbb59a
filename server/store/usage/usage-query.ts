import { sql } from 'kysely'
import type { UsageMetric } from '../../../contract/api/usage.ts'
import { logType } from '../../../contract/log-types.ts'
import type { UsageFigures } from '../schema/usage-tables.ts'
import type { Db } from '../store.ts'
import { failuresFor } from './channel-failures.ts'
import { inHourOf, splitRange } from './usage-range.ts'
import { usageRows } from './usage-rows.ts'
import {
  dayHours,
  daysTo,
  figureColumns,
  figureOfRow,
  type Grouping,
  type HourRange,
  hourSeconds,
  hoursOf,
  kindFor,
  matches,
  type RowFilter,
  uncounted,
} from './usage-series.ts'

const sums = sql.raw(figureColumns.map((name) => `cast(coalesce(sum(${name}), 0) as bigint) as ${name}`).join(', '))

/** The filter, restricted to calls, because rows of other types do not count as usage. */
const calls = (filter: RowFilter): RowFilter => ({ ...filter, type: logType.consume })

export type GroupKey = string | number

/** The figures of one group. `g` is the value of the dimension. */
export interface GroupFigures extends UsageFigures {
  g: GroupKey
}

/** The groups with the highest values of a metric, and the total of all groups. */
export interface Ranking {
  total: UsageFigures
  /** The number of groups. */
  count: number
  top: GroupFigures[]
}

type Figures = readonly (keyof UsageFigures)[]

/**
 * How each metric is calculated: the sum of the figures in `over`, divided by the sum of those in `under`. Most metrics
 * have no divisor.
 */
const quotients: Readonly<Record<UsageMetric, readonly [over: Figures, under: Figures]>> = {
  quota: [['quota'], []],
  requests: [['requests'], []],
  prompt_tokens: [['prompt_tokens'], []],
  completion_tokens: [['completion_tokens'], []],
  tokens: [['prompt_tokens', 'completion_tokens'], []],
  cached_tokens: [['cached_tokens'], []],
  cached_share: [['cached_tokens'], ['prompt_tokens']],
  failed: [['failed'], []],
  duration: [['elapsed_time'], ['requests']],
  first_byte: [['first_byte_time'], ['first_byte_count']],
  cost: [['cost'], []],
  margin: [['margin'], []],
}

const added = (figures: Figures) => figures.join(' + ') || '0'

interface Grouped {
  filter: RowFilter
  range: HourRange
  group: Grouping | undefined
}

/** The sums of all matching calls, and of the groups with the highest values of a metric. */
export async function rankUsage(
  db: Db,
  ask: Grouped & { metric: UsageMetric; limit: number; only?: readonly GroupKey[] },
): Promise<Ranking> {
  const filter = calls(ask.filter)
  const { range, group } = ask
  if (group === undefined) return { total: await totalUsage(db, ask.filter, range), count: 0, top: [] }
  const rows = usageRows({ kind: kindFor(filter, [group]), filter, range, group })
  const [over, under] = quotients[ask.metric]
  // A loss ranks as high as a gain of the same size.
  const above = ask.metric === 'margin' ? `abs(${added(over)})` : added(over)
  const below = added(under)
  const rank = sql.raw(
    under.length === 0 ? above : `1.0 * (${above}) / (case when ${below} = 0 then 1 else ${below} end)`,
  )
  const wanted =
    ask.only === undefined ? sql`true` : ask.only.length === 0 ? sql`false` : sql`g in (${sql.join(ask.only)})`
  const columns = sql.raw(figureColumns.join(', '))
  const answer = await sql<GroupFigures & { part: 'top' | 'total'; groups: number }>`
    with found as (${rows}),
    grouped as materialized (select g, ${sums} from found group by g),
    top as (select g, ${columns} from grouped where ${wanted} order by ${rank} desc, g limit ${ask.limit})
    select 'top' as part, 0 as groups, g, ${columns} from top
    union all
    select 'total', count(*), null, ${sums} from grouped`.execute(db)
  const top: GroupFigures[] = []
  let [total, count] = [noUsage, 0]
  for (const { part, groups, g, ...figures } of answer.rows) {
    if (part === 'top') top.push({ g, ...figures })
    else [total, count] = [figures, groups]
  }
  return { total, count, top }
}

const noUsage: UsageFigures = {
  requests: 0,
  quota: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  failed: 0,
  elapsed_time: 0,
  first_byte_time: 0,
  first_byte_count: 0,
  cost: 0,
  margin: 0,
}

async function totalUsage(db: Db, rowFilter: RowFilter, range: HourRange): Promise<UsageFigures> {
  const filter = calls(rowFilter)
  const rows = usageRows({ kind: kindFor(filter), filter, range })
  const answer = await sql<UsageFigures>`select ${sums} from (${rows}) found`.execute(db)
  return answer.rows[0] ?? noUsage
}

/**
 * A metric of one group, or of all groups together (`g` is null), in one bucket: `over` divided by `under`, if there is
 * a divisor.
 */
export interface BucketFigures {
  g: GroupKey | null
  bucket: number
  over: number
  under: number
}

/**
 * A metric over time, in buckets of hours or local days. Returns the values of each of the groups in `only`, and of all
 * groups together.
 */
export async function usageInBuckets(
  db: Db,
  ask: Grouped & { metric: UsageMetric; only: readonly GroupKey[]; bucket: { minutes: number; shift: number } },
): Promise<BucketFigures[]> {
  const filter = calls(ask.filter)
  const { range, bucket, group, only } = ask
  const [over, under] = quotients[ask.metric]
  const quotient = sql.raw(
    `cast(sum(${added(over)}) as bigint) as "over", cast(sum(${added(under)}) as bigint) as "under"`,
  )
  const kind = kindFor(filter)
  const figures = [...new Set([...over, ...under, 'requests' as const])]
  const all = usageRows({ kind, filter, range, bucket, figures })
  if (group === undefined || only.length === 0) {
    const answer = await sql<BucketFigures>`
      select null as g, bucket, ${quotient} from (${all}) found group by bucket ${withCalls(figures)}`.execute(db)
    return answer.rows
  }
  const groupKind = kindFor(filter, [group])
  if (groupKind === kind) {
    const rows = usageRows({ kind, filter, range, bucket, group, figures })
    const answer = await sql<BucketFigures>`
      select case when g in (${sql.join(only)}) then g end as g, bucket, ${quotient} from (${rows}) found group by 1, 2 ${withCalls(figures)}
    `.execute(db)
    return withTotals(answer.rows)
  }
  const grouped = usageRows({ kind: groupKind, filter, range, bucket, group, only, figures })
  const answer = await sql<BucketFigures>`
    select null as g, bucket, ${quotient} from (${all}) of_all group by bucket ${withCalls(figures)}
    union all
    select g, bucket, ${quotient} from (${grouped}) of_groups group by g, bucket ${withCalls(figures)}`.execute(db)
  return answer.rows
}

/**
 * The HAVING clause that omits buckets without calls. A bucket can have rows but no calls if all of its figures have
 * been moved to the next bucket (see `daysByParts`).
 */
function withCalls(figures: Figures) {
  const counts = figures.includes('failed') ? 'sum(requests) > 0 or sum(failed) > 0' : 'sum(requests) > 0'
  return sql.raw(`having ${counts}`)
}

/**
 * Adds up the rows of each bucket to a row for all groups together (`g` is null). This row replaces the row of the
 * groups that are not listed.
 */
function withTotals(rows: readonly BucketFigures[]): BucketFigures[] {
  const totals = new Map<number, BucketFigures>()
  for (const { bucket, over, under } of rows) {
    const total = totals.get(bucket) ?? { g: null, bucket, over: 0, under: 0 }
    totals.set(bucket, { ...total, over: total.over + over, under: total.under + under })
  }
  return [...totals.values(), ...rows.filter(({ g }) => g !== null)]
}

/** The first hour with a matching call; undefined if there is none. */
export async function firstUsageHour(db: Db, rowFilter: RowFilter): Promise<number | undefined> {
  const filter = calls(rowFilter)
  const wanted = sql`s.kind = ${kindFor(filter)} and ${matches('s', filter)}`
  const failures = failuresFor(filter, undefined, splitRange(0, 0).whole)
  const firstFailure = failures ? sql`union all select min(f.slot) from ${failures}` : sql``
  // The query looks up the first day of each series. It then reads the hours of only the earliest of these days and of
  // the days that have not been summed up yet.
  const answer = await sql<{ hour: number | null }>`
    with begun as materialized (
      select s.id, (select min(u.slot) from usage_days u where u.series_id = s.id) as day from usage_series s where ${wanted}
    )
    select min(hour) as hour from (
      select min(u.slot) as hour from begun cross join usage_hours u
      where begun.day = (select min(day) from begun) and u.day = begun.day and u.series_id = begun.id
      union all
      select min(u.slot) from usage_series s ${hoursOf(splitRange(0, 0).whole)} and d.day >= ${daysTo} and ${wanted}
      union all
      select min(l.created_at) / ${sql.lit(hourSeconds)} from logs l where ${uncounted} and ${matches('l', filter)}
      ${firstFailure}
    ) first`.execute(db)
  return answer.rows[0]?.hour ?? undefined
}

/** The quota, the tokens and the number of calls, and the number of calls that failed or were interrupted. */
export interface CallSums {
  quota: number
  token: number
  calls: number
  failed: number
}

/**
 * The sums of the matching calls from the second `start` to the second `end`, both included. If `end` is 0, the range
 * has no end. The type in the filter is ignored. Whole hours come from the usage sums, which include deleted rows. The
 * partial hours at the ends come from the log rows themselves.
 */
export async function sumCalls(db: Db, rowFilter: RowFilter, start: number, end: number): Promise<CallSums> {
  const { whole, edges } = splitRange(start, end)
  const figures = ['requests', 'quota', 'prompt_tokens', 'completion_tokens', 'failed'] as const
  const parts = [logType.consume, logType.error].flatMap((type) => {
    const filter = { ...rowFilter, type }
    const hours = usageRows({ kind: kindFor(filter), filter, range: whole, figures, callsOnly: true })
    const rows = edges.flatMap((edge) =>
      // There are two queries instead of one with `or`, so that each reads only one range of ids.
      [uncounted, inHourOf(edge)].map(
        (where) => sql`
        select l.quota, l.prompt_tokens + l.completion_tokens as token, 1 as calls, ${sql.raw(figureOfRow.failed)} as failed
        from logs l
        where ${where} and ${matches('l', filter)} and l.created_at >= ${edge.from} and l.created_at < ${edge.until}`,
      ),
    )
    return [
      sql`select quota, prompt_tokens + completion_tokens as token, requests as calls, failed from (${hours}) hours`,
      ...rows,
    ]
  })
  const sumOf = (name: keyof CallSums) => `cast(coalesce(sum(${name}), 0) as bigint) as ${name}`
  const answer = await sql<CallSums>`
    select ${sql.raw((['quota', 'token', 'calls', 'failed'] as const).map(sumOf).join(', '))}
    from (${sql.join(parts, sql` union all `)}) found`.execute(db)
  return answer.rows[0] ?? { quota: 0, token: 0, calls: 0, failed: 0 }
}

/** The usage of one model on one day. Days are counted from 1970 (UTC). */
export interface ModelDay extends UsageFigures {
  day: number
  model: string
}

/** The usage of a user's calls since a given day, by day and model. */
export async function usageByDay(db: Db, userId: number, firstDay: number): Promise<ModelDay[]> {
  const filter = calls({ userId })
  const bucket = { minutes: 1440, shift: 0 }
  const range = { from: firstDay * dayHours, to: splitRange(0, 0).whole.to }
  const rows = usageRows({ kind: kindFor(filter, ['model_name']), filter, range, group: 'model_name', bucket })
  const answer = await sql<ModelDay>`
    select bucket as day, g as model, ${sums} from (${rows}) found group by bucket, g order by 1, 2`.execute(db)
  return answer.rows
}

/**
 * The names of users, tokens or channels by id. For those that have been deleted, the names with which they were last
 * used.
 */
export async function usageNames(
  db: Db,
  group: 'user_id' | 'token_id' | 'channel_id',
  ids: readonly number[],
): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const among = sql`in (${sql.join(ids)})`
  const [table, name] = nameColumns[group]
  const id = sql.ref(group)
  const used =
    group === 'channel_id'
      ? sql``
      : sql`union all
          select ${id}, ${sql.ref(name)}, 1, id from usage_series where kind = ${kindFor({}, [group])} and ${id} ${among}
          union all
          select ${id}, ${sql.ref(name)}, 2, id from logs l where ${uncounted} and ${id} ${among}`
  const answer = await sql<{ id: number; name: string }>`
    select id, name from (
      select id, ${sql.ref(group === 'token_id' ? 'name' : name)} as name, 3 as source, id as place
      from ${sql.table(table)} where id ${among} ${used}
    ) names order by source, place`.execute(db)
  return new Map(answer.rows.map((row) => [row.id, row.name]))
}

const nameColumns = {
  user_id: ['users', 'username'],
  token_id: ['tokens', 'token_name'],
  channel_id: ['channels', 'name'],
} as const
