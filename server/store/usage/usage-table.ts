import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import type { UsageFigures } from '../schema/usage-tables.ts'
import type { Db } from '../store.ts'
import { ownColumns } from './channel-failures.ts'
import { type DayPiece, exactRows } from './usage-exact.ts'
import { nameColumns, nameJoins } from './usage-names.ts'
import { splitRange } from './usage-range.ts'
import { filteredColumns, type Grouping, matches, type RowFilter } from './usage-series.ts'

/** The dimensions by which a table of usage can be grouped. */
export type TableDimension = 'user_id' | 'token_id' | 'project' | 'channel_id' | 'model_name' | 'day'

/** A time range in epoch seconds, both ends included. */
export interface Seconds {
  start: number
  end: number
}

export interface TableAsk {
  filter: RowFilter
  /** One dimension, or two different ones. */
  by: readonly TableDimension[]
  range: Seconds
  /** The days in the reader's time zone; see `exactRows`. */
  days: readonly DayPiece[]
  /** The period to compare with. It is not set for tables by day. */
  before?: Seconds | undefined
  /** Includes only rows with a name that contains this text. */
  keyword: string
  sort: TableSort
  descending: boolean
  offset: number
  limit: number
}

/** The figures in a row of the table. */
const figures = [
  'requests',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'failed',
  'cost',
  'margin',
] as const satisfies readonly (keyof UsageFigures)[]

type Figure = (typeof figures)[number]

/** One row of the table. `g` and `h` are ids, names of models or projects, or days, counted from 1970. */
export interface TableRow extends Record<Figure, number> {
  g: string | number
  name: string
  owner: string
  h: string | number
  name_h: string
  owner_h: string
  /**
   * The number of failed calls that were not charged, and are therefore not included in `requests`. In tables about
   * channels, the number of failed attempts.
   */
  refused: number
  /** The quota charged in the period to compare with. */
  before: number
  /** The quota charged in all rows of the table, and the number of rows that match `keyword`. */
  whole: number
  matching: number
}

const ratio = (over: string, under: string) => `1.0 * (${over}) / (case when (${under}) = 0 then 1 else (${under}) end)`

const sorts = {
  quota: 'quota',
  requests: 'requests',
  tokens: 'prompt_tokens + completion_tokens',
  prompt_tokens: 'prompt_tokens',
  completion_tokens: 'completion_tokens',
  cached: ratio('cached_tokens', 'prompt_tokens'),
  failed: 'failed + refused',
  failure_rate: ratio('failed + refused', 'requests + refused'),
  mean: ratio('quota', 'requests'),
  change: 'quota - before',
  cost: 'cost',
  margin: 'margin',
  name: 'lower(name)',
  second: 'lower(name_h)',
} as const

export type TableSort = keyof typeof sorts

/** The rows of one page, read with one statement, which sees one snapshot. */
export async function usageTable(db: Db, ask: TableAsk): Promise<TableRow[]> {
  const [first, second] = ask.by
  if (first === undefined) return []
  const direction = sql.raw(ask.descending ? 'desc' : 'asc')
  // A day has no name, so days are sorted by their number.
  const sorted = (column: TableSort, dimension: TableDimension | undefined, key: 'g' | 'h') =>
    ask.sort === column && dimension === 'day' ? key : undefined
  const order = sorted('name', first, 'g') ?? sorted('second', second, 'h') ?? sorts[ask.sort]
  const answer = await sql<TableRow>`
    with found as materialized (${found(ask)}),
    grouped as materialized (
      select g, h, ${sums}, cast(sum(sum(quota)) over () as bigint) as whole from found group by g, h
      having sum(requests) > 0 or sum(failed) > 0 or sum(refused) > 0
    ),
    named as (
      select grouped.*, ${labels(first, 'g')}, ${labels(second, 'h')} from grouped
      ${namesOf(first, 'g')} ${namesOf(second, 'h')}
    ),
    matched as (select * from named where ${matching(ask)})
    select matched.*, cast(count(*) over () as bigint) as matching
    from matched order by ${sql.raw(order)} ${direction}, g, h limit ${ask.limit} offset ${ask.offset}`.execute(db)
  return answer.rows
}

const sums = sql.raw(
  [...figures, 'refused', 'before'].map((name) => `cast(sum(${name}) as bigint) as ${name}`).join(', '),
)

/** A query for rows with `g`, `h` and figures. A row of the table is the sum of the rows with its `g` and `h`. */
function found(ask: TableAsk): RawBuilder<unknown> {
  const { before, range } = ask
  const calls = { ...ask.filter, type: logType.consume }
  const zeros = (except: readonly string[]) =>
    [...figures, 'refused', 'before'].map((name) => (except.includes(name) ? name : `0 as ${name}`)).join(', ')
  const failures = isOfChannels(ask) ? attemptRows(ask) : undefined
  const parts = [
    sql`select ${keysOf(ask)}, ${sql.raw(zeros(figures))} from (${rowsOf(ask, calls, range, figures)}) calls`,
    failures === undefined
      ? sql`select ${keysOf(ask)}, ${sql.raw(zeros([]).replace('0 as refused', 'requests as refused'))}
          from (${rowsOf(ask, { ...ask.filter, type: logType.error }, range, ['requests'])}) errors`
      : sql`select g, h, ${sql.raw(zeros(['refused']))} from (${failures}) attempts`,
  ]
  if (before)
    parts.push(sql`select ${keysOf(ask)}, ${sql.raw(zeros([]).replace('0 as before', 'quota as before'))}
      from (${rowsOf(ask, calls, before, ['quota'])}) earlier`)
  return sql.join(parts, sql` union all `)
}

/** What `by` groups rows by, apart from the day. */
const stored = (by: readonly TableDimension[]): Grouping[] => by.flatMap((each) => (each === 'day' ? [] : [each]))

function rowsOf(ask: TableAsk, filter: RowFilter, { start, end }: Seconds, wanted: readonly Figure[]) {
  const [group, second] = stored(ask.by)
  const days = ask.by.includes('day') ? { days: ask.days } : {}
  const keys = { ...(group && { group }), ...(second && { second }) }
  return exactRows({ filter, start, end, figures: wanted, callsOnly: true, ...keys, ...days })
}

/**
 * The columns of `exactRows` that become the keys `g` and `h` of the table. `bucket` is the number of the day plus one.
 */
function keysOf({ by: [first, second] }: TableAsk): RawBuilder<unknown> {
  if (first === 'day') return sql.raw(`bucket - 1 as g, ${second === undefined ? '0' : 'g'} as h`)
  return sql.raw(`g, ${second === undefined ? '0' : second === 'day' ? 'bucket - 1' : 'h'} as h`)
}

/** True if the table is about channels, so that it shows failed attempts. */
function isOfChannels({ filter, by }: TableAsk): boolean {
  return filteredColumns(filter).includes('channel_id') || by.includes('channel_id')
}

/** Failed attempts at channels, by whole hours; undefined for queries about people or tokens. */
function attemptRows({ filter, by, range, days }: TableAsk): RawBuilder<unknown> {
  const { whole } = splitRange(range.start, range.end)
  const isCounted = [...filteredColumns(filter), ...stored(by)].every((column) => column in ownColumns)
  const dayOf = sql.raw(
    days.reduce(
      (rest, { from, offset }) => `case when f.slot >= ${from} then (f.slot * 60 + ${offset}) / 1440 else ${rest} end`,
      `(f.slot * 60 + ${days[0]?.offset ?? 0}) / 1440`,
    ),
  )
  const key = (each: TableDimension | undefined) =>
    each === undefined
      ? sql`0`
      : each === 'day'
        ? dayOf
        : each in ownColumns
          ? sql.ref(`f.${each}`)
          : sql.raw(`cast(null as ${each === 'project' ? 'text' : 'bigint'})`)
  return sql`
    select ${key(by[0])} as g, ${key(by[1])} as h, f.attempts as refused from channel_failures f
    where ${isCounted ? sql`true` : sql`false`} and f.slot >= ${whole.from} and f.slot < ${whole.to}
      and ${isCounted ? matches('f', filter) : sql`true`}`
}

const hasNames = (dimension: TableDimension | undefined): dimension is 'user_id' | 'token_id' | 'channel_id' =>
  dimension === 'user_id' || dimension === 'token_id' || dimension === 'channel_id'

const isName = (dimension: TableDimension | undefined) => dimension === 'model_name' || dimension === 'project'

const columnsOf = { g: ['name', 'owner'], h: ['name_h', 'owner_h'] } as const

function labels(dimension: TableDimension | undefined, key: 'g' | 'h'): RawBuilder<unknown> {
  const [name, owner] = columnsOf[key]
  if (!hasNames(dimension)) return sql.raw(`${isName(dimension) ? `grouped.${key}` : "''"} as ${name}, '' as ${owner}`)
  const columns = nameColumns(dimension, key)
  return sql.raw(`${columns.name} as ${name}, ${columns.owner} as ${owner}`)
}

function namesOf(dimension: TableDimension | undefined, key: 'g' | 'h'): RawBuilder<unknown> {
  return hasNames(dimension) ? nameJoins(dimension, key) : sql``
}

function matching({ keyword, by }: TableAsk): RawBuilder<SqlBool> {
  if (keyword === '') return sql<SqlBool>`true`
  const pattern = `%${keyword.replace(/[\\%_]/g, (mark) => `\\${mark}`)}%`
  const has = (column: string) => sql<SqlBool>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`
  const columns = ['name', 'owner', ...(by.length > 1 ? ['name_h', 'owner_h'] : [])]
  return sql<SqlBool>`(${sql.join(columns.map(has), sql` or `)})`
}
