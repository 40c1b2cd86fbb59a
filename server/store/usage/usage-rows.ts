import { type RawBuilder, sql } from 'kysely'
import type { UsageFigures } from '../schema/usage-tables.ts'
import { failuresFor } from './channel-failures.ts'
import {
  dayHours,
  daysTo,
  figureColumns,
  figureOfRow,
  type Grouping,
  groupingOf,
  type HourRange,
  holdsAllDays,
  hourSeconds,
  hoursOf,
  matches,
  type RowFilter,
  type SeriesKind,
  uncounted,
  weekDays,
  weeksTo,
} from './usage-series.ts'

/**
 * A query for usage. Each row of its result has a group, a bucket, and figures, which are those of an hour, a day, a
 * week, all days or a single log row.
 */
export interface UsageAsk {
  kind: SeriesKind
  filter: RowFilter
  range: HourRange
  /** The dimension or project to group by. Its values are in column `g`. */
  group?: Grouping
  /** A second dimension to group by. Its values are in column `h`. It may only be set together with `group`. */
  second?: Grouping
  /**
   * The length of a bucket and the shift of its start, in minutes. The bucket is in column `bucket`. A row belongs to
   * the bucket that contains the start of its hour.
   */
  bucket?: { minutes: number; shift: number }
  /** Includes only rows that have one of these values in the dimension `group`. */
  only?: readonly (string | number)[]
  /** Includes only these columns of the figures. */
  figures?: readonly Figure[]
  /** If true, attempts that failed at a channel do not count as failures of that channel. */
  callsOnly?: true
}

type Figure = keyof UsageFigures

/**
 * A part of the result. `slots` joins a table of sums as `u` to the series `s`. `hour` is the SQL expression for the
 * hour that determines the bucket of each slot.
 */
interface Piece {
  slots: RawBuilder<unknown>
  hour: string
  /**
   * If set, another piece already counts these slots as part of a day. They are then subtracted from the bucket that
   * contains this hour.
   */
  takenFrom?: string
}

const hours = (from: number, to: number): Piece[] =>
  from < to ? [{ slots: hoursOf({ from, to }), hour: 'u.slot' }] : []

function slots(table: 'usage_days' | 'usage_weeks', within: RawBuilder<unknown>, inSlot = 0): Piece {
  return {
    slots: sql`cross join ${sql.table(table)} u where u.series_id = s.id and ${within}`,
    hour: `u.slot * ${table === 'usage_days' ? dayHours : weekDays * dayHours} + ${inSlot}`,
  }
}

/**
 * The slots that together cover the range, as few as possible: whole weeks, the days before and after them, and the
 * hours at both ends.
 */
function piecesOf({ range: { from, to }, bucket }: UsageAsk): Piece[] {
  const firstDay = Math.ceil(from / dayHours)
  const lastDay = Math.floor(to / dayHours)
  const canTakeDays = bucket === undefined || bucket.minutes % (dayHours * 60) === 0
  if (!canTakeDays || firstDay >= lastDay) return hours(from, to)
  const first = firstDay * dayHours
  // Hours are read on days that have not been summed up yet, and on the day in which the range ends.
  const unsummed = sql`d.day >= case when ${daysTo} < ${lastDay} then ${daysTo} else ${lastDay} end`
  return [
    ...(bucket === undefined
      ? orInAll({ from, to }, [...hours(from, first), ...daysAndWeeks(firstDay, lastDay)])
      : [...hours(from, first), ...daysByParts(firstDay, lastDay, bucket.shift)]),
    { slots: sql`${hoursOf({ from: first, to })} and ${unsummed}`, hour: 'u.slot' },
  ]
}

/**
 * The pieces, and the totals of the series as an alternative to them. Conditions in the SQL make sure that only one of
 * the two is read: the totals if the range contains all days, otherwise the pieces.
 */
function orInAll(range: HourRange, pieces: readonly Piece[]): Piece[] {
  const some = sql`cross join usage_series u where u.id = s.id and u.requests > 0`
  const inAll = { slots: sql`${some} and ${holdsAllDays(range)}`, hour: '0' }
  return [inAll, ...pieces.map((piece) => ({ ...piece, slots: sql`${piece.slots} and not ${holdsAllDays(range)}` }))]
}

/**
 * The pieces for buckets of whole days that can begin at another hour than midnight UTC. The start of a bucket then
 * divides a UTC day into two parts. The sums of the whole day are added to the bucket of the larger part. The hours of
 * the smaller part are then moved from this bucket to their own, so at most half of the hours are read.
 */
function daysByParts(from: number, to: number, shift: number): Piece[] {
  const cut = Math.ceil((dayHours * 60 - (shift % (dayHours * 60))) / 60)
  const inFirst = cut * 2 >= dayHours
  const inDay = inFirst ? 0 : dayHours - 1
  const days = slots('usage_days', sql`u.slot >= ${from} and u.slot < ${to} and u.slot < ${daysTo}`, inDay)
  if (cut === dayHours) return [days]
  const [lower, upper] = inFirst ? [cut, dayHours] : [0, cut]
  return [
    days,
    {
      slots: sql`cross join usage_dates d cross join usage_hours u
        where u.day = d.day and u.series_id = s.id and d.day >= ${from} and d.day < ${to} and d.day < ${daysTo}
          and u.slot >= d.day * ${sql.lit(dayHours)} + ${sql.lit(lower)}
          and u.slot < d.day * ${sql.lit(dayHours)} + ${sql.lit(upper)}`,
      hour: `day * ${dayHours} + ${lower}`,
      takenFrom: `day * ${dayHours} + ${inDay}`,
    },
  ]
}

function daysAndWeeks(from: number, to: number): Piece[] {
  const days = (lower: RawBuilder<unknown>, upper: number) =>
    slots('usage_days', sql`u.slot >= ${lower} and u.slot < ${upper} and u.slot < ${daysTo}`)
  const firstWeek = Math.ceil(from / weekDays)
  const lastWeek = Math.floor(to / weekDays)
  if (firstWeek >= lastWeek) return [days(sql`${from}`, to)]
  // Weeks are summed up when they are over. Days are read after the last week that has been summed up.
  const rest = sql`case when ${weeksTo} < ${lastWeek} and ${weeksTo} > ${firstWeek} then ${weeksTo}
    when ${weeksTo} <= ${firstWeek} then ${firstWeek} else ${lastWeek} end * ${sql.lit(weekDays)}`
  return [
    ...(from < firstWeek * weekDays ? [days(sql`${from}`, firstWeek * weekDays)] : []),
    slots('usage_weeks', sql`u.slot >= ${firstWeek} and u.slot < ${lastWeek} and u.slot < ${weeksTo}`),
    days(rest, to),
  ]
}

/**
 * A query for rows with `g`, `bucket` and figures. The caller adds up the figures by group and bucket. The query
 * includes log rows that are not counted in the hourly sums yet, and sees one snapshot. Rows with negative figures
 * occur, because figures are moved between buckets. They do not make the sums of a bucket wrong.
 */
export function usageRows(ask: UsageAsk): RawBuilder<unknown> {
  const pieces = [...piecesOf(ask).map((piece) => slotRows(ask, piece)), tailRows(ask), ...failureRows(ask)]
  const rows = sql.join(pieces, sql` union all `)
  // The series are looked up once for all pieces and days.
  return sql`
    with s as materialized (
      select s.id, ${keysOf(ask, 's')} from usage_series s
      where s.kind = ${ask.kind} and ${matches('s', ask.filter)} and ${among(ask, 's')}
    )
    ${rows}`
}

function slotRows(ask: UsageAsk, { slots, hour, takenFrom }: Piece): RawBuilder<unknown> {
  const figures = figuresOf(ask, (name) => `u.${name}`)
  if (takenFrom === undefined)
    return sql`select ${keyNames(ask, 's.')}, ${bucketOf(ask, hour)} as bucket, ${figures} from s ${slots}`
  // The hours are first added up by day. Each sum is then added to one bucket and subtracted from another.
  return sql`
    select ${keyNames(ask)}, case when sign = 1 then ${bucketOf(ask, hour)} else ${bucketOf(ask, takenFrom)} end as bucket,
      ${figuresOf(ask, (name) => `sign * ${name} as ${name}`)}
    from (
      select ${keyNames(ask, 's.')}, d.day, ${figuresOf(ask, (name) => `cast(sum(u.${name}) as bigint) as ${name}`)} from s ${slots}
      group by d.day, s.id, ${keyNames(ask, 's.')}
    ) moved
    cross join (select 1 as sign union all select -1) signs`
}

function figuresOf({ figures = figureColumns }: UsageAsk, textOf: (name: Figure) => string): RawBuilder<unknown> {
  return sql.raw(figures.map(textOf).join(', '))
}

function tailRows(ask: UsageAsk): RawBuilder<unknown> {
  const { from, to } = ask.range
  return sql`
    select ${keysOf(ask, 'l')}, ${bucketOf(ask, `l.created_at / ${hourSeconds}`)} as bucket,
      ${figuresOf(ask, (name) => `${figureOfRow[name]} as ${name}`)}
    from logs l
    where ${uncounted} and ${matches('l', ask.filter)} and ${among(ask, 'l')}
      and l.created_at >= ${from * hourSeconds} and l.created_at < ${to * hourSeconds}`
}

/**
 * The failed attempts at channels. Each counts as a failure of its channel, even if another channel then served the
 * call or the call has no log row.
 */
function failureRows(ask: UsageAsk): RawBuilder<unknown>[] {
  if (ask.callsOnly || !(ask.figures ?? figureColumns).includes('failed')) return []
  const failures = failuresFor(ask.filter, ask.group, ask.range)
  if (!failures) return []
  return [
    sql`
    select ${keysOf(ask, 'f')}, ${bucketOf(ask, 'f.slot')} as bucket,
      ${figuresOf(ask, (name) => (name === 'failed' ? 'f.attempts as failed' : `0 as ${name}`))}
    from ${failures} and ${among(ask, 'f')}`,
  ]
}

/** The dimensions to group by, as columns `g` and `h`. */
function keysOf({ group, second }: UsageAsk, alias: string): RawBuilder<unknown> {
  const g = group === undefined ? sql`0` : groupingOf(alias, group)
  return second === undefined ? sql`${g} as g` : sql`${g} as g, ${groupingOf(alias, second)} as h`
}

function keyNames({ second }: UsageAsk, prefix = ''): RawBuilder<unknown> {
  return sql.raw(second === undefined ? `${prefix}g` : `${prefix}g, ${prefix}h`)
}

function bucketOf({ bucket }: UsageAsk, hour: string): RawBuilder<unknown> {
  return bucket === undefined ? sql`0` : sql.raw(`((${hour}) * 60 + ${bucket.shift}) / ${bucket.minutes}`)
}

function among({ group, only }: UsageAsk, alias: 's' | 'l' | 'f'): RawBuilder<unknown> {
  if (group === undefined || only === undefined) return sql`true`
  return only.length === 0 ? sql`false` : sql`${groupingOf(alias, group)} in (${sql.join(only)})`
}
