import { type RawBuilder, sql } from 'kysely'
import {
  type Dimension,
  dayHours,
  daysTo,
  figureColumns,
  figureOfRow,
  type HourRange,
  hourSeconds,
  hoursOf,
  matches,
  type RowFilter,
  type SeriesKind,
  uncounted,
  weekDays,
  weeksTo,
} from './usage-series.ts'

/** What is asked for: one row for each place, with the figures of one hour, one day or one log row. */
export interface UsageAsk {
  kind: SeriesKind
  filter: RowFilter
  range: HourRange
  /** A dimension that tells the rows apart, as column `g`. */
  group?: Dimension
  /** Minutes of a bucket and of its shift, as column `bucket`: rows are put into the bucket in which their hour begins. */
  bucket?: { minutes: number; shift: number }
  /** Only rows with one of these in `group`. */
  only?: readonly (string | number)[]
}

/** A table of sums, joined to series `s` as `u`, and the hour in which its slot begins. */
interface Piece {
  slots: RawBuilder<unknown>
  hour: string
}

const hours = (from: number, to: number): Piece[] =>
  from < to ? [{ slots: hoursOf({ from, to }), hour: 'u.slot' }] : []

function slots(table: 'usage_days' | 'usage_weeks', within: RawBuilder<unknown>): Piece {
  return {
    slots: sql`cross join ${sql.table(table)} u where u.series_id = s.id and ${within}`,
    hour: `u.slot * ${table === 'usage_days' ? dayHours : weekDays * dayHours}`,
  }
}

/** The fewest slots that make up the range: whole weeks, the days before and after them, and hours at the ends. */
function piecesOf({ range: { from, to }, bucket }: UsageAsk): Piece[] {
  // A day can stand for its hours when all of them fall into one bucket.
  const inDays = bucket === undefined || (bucket.minutes % 1440 === 0 && bucket.shift % 1440 === 0)
  const firstDay = Math.ceil(from / dayHours)
  const lastDay = Math.floor(to / dayHours)
  if (!inDays || firstDay >= lastDay) return hours(from, to)
  const [first, last] = [firstDay * dayHours, lastDay * dayHours]
  return [
    ...hours(from, first),
    ...daysAndWeeks(firstDay, lastDay, bucket === undefined),
    ...hours(first, last).map((piece) => ({ ...piece, slots: sql`${piece.slots} and d.day >= ${daysTo}` })),
    ...hours(last, to),
  ]
}

function daysAndWeeks(from: number, to: number, inWeeks: boolean): Piece[] {
  const days = (lower: RawBuilder<unknown>, upper: number) =>
    slots('usage_days', sql`u.slot >= ${lower} and u.slot < ${upper} and u.slot < ${daysTo}`)
  const firstWeek = Math.ceil(from / weekDays)
  const lastWeek = Math.floor(to / weekDays)
  if (!inWeeks || firstWeek >= lastWeek) return [days(sql`${from}`, to)]
  // Weeks are summed up when they are over; from there on days stand for them.
  const rest = sql`case when ${weeksTo} < ${lastWeek} and ${weeksTo} > ${firstWeek} then ${weeksTo}
    when ${weeksTo} <= ${firstWeek} then ${firstWeek} else ${lastWeek} end * ${sql.lit(weekDays)}`
  return [
    ...(from < firstWeek * weekDays ? [days(sql`${from}`, firstWeek * weekDays)] : []),
    slots('usage_weeks', sql`u.slot >= ${firstWeek} and u.slot < ${lastWeek} and u.slot < ${weeksTo}`),
    days(rest, to),
  ]
}

/** Rows `g`, `bucket` and figures of everything that is asked for, counted in hours and days or not yet: one snapshot. */
export function usageRows(ask: UsageAsk): RawBuilder<unknown> {
  return sql.join([...piecesOf(ask).map((piece) => slotRows(ask, piece)), tailRows(ask)], sql` union all `)
}

function slotRows(ask: UsageAsk, piece: Piece): RawBuilder<unknown> {
  return sql`
    select ${groupOf(ask, 's')} as g, ${bucketOf(ask, piece.hour)} as bucket, ${slotFigures}
    from usage_series s ${piece.slots} and s.kind = ${ask.kind} and ${matches('s', ask.filter)} and ${among(ask, 's')}`
}

const slotFigures = sql.raw(figureColumns.map((name) => `u.${name}`).join(', '))

function tailRows(ask: UsageAsk): RawBuilder<unknown> {
  const { from, to } = ask.range
  return sql`
    select ${groupOf(ask, 'l')} as g, ${bucketOf(ask, `l.created_at / ${hourSeconds}`)} as bucket, ${rowFigures}
    from logs l
    where ${uncounted} and ${matches('l', ask.filter)} and ${among(ask, 'l')}
      and l.created_at >= ${from * hourSeconds} and l.created_at < ${to * hourSeconds}`
}

/** The figures of one log row `l`. */
const rowFigures = sql.raw(figureColumns.map((name) => `${figureOfRow[name]} as ${name}`).join(', '))

function groupOf({ group }: UsageAsk, alias: string): RawBuilder<unknown> {
  return group === undefined ? sql`0` : sql.ref(`${alias}.${group}`)
}

function bucketOf({ bucket }: UsageAsk, hour: string): RawBuilder<unknown> {
  return bucket === undefined ? sql`0` : sql.raw(`((${hour}) * 60 + ${bucket.shift}) / ${bucket.minutes}`)
}

function among({ group, only }: UsageAsk, alias: string): RawBuilder<unknown> {
  if (group === undefined || only === undefined) return sql`true`
  return only.length === 0 ? sql`false` : sql`${sql.ref(`${alias}.${group}`)} in (${sql.join(only)})`
}
