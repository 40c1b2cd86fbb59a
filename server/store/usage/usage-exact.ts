import { type RawBuilder, sql } from 'kysely'
import type { UsageFigures } from '../schema/usage-tables.ts'
import { inHourOf, splitRange } from './usage-range.ts'
import { type UsageAsk, usageRows } from './usage-rows.ts'
import { figureColumns, figureOfRow, hourSeconds, kindFor, matches, uncounted } from './usage-series.ts'

/** A query for usage in a time range that is exact to the second. */
export interface ExactAsk extends Omit<UsageAsk, 'kind' | 'range' | 'bucket' | 'only'> {
  /** Epoch seconds. Both ends are included. If `end` is 0, the range has no end. */
  start: number
  end: number
  /**
   * The days in the reader's time zone, as one piece for each time zone offset in the range (minutes east of UTC), in
   * order. Rows then have the day, counted from 1970, as `bucket`. A piece ends at the hour in which the next one
   * begins.
   */
  days?: readonly DayPiece[]
}

export interface DayPiece {
  /** Hours since 1970. */
  from: number
  offset: number
}

const dayMinutes = 1440

/**
 * Like `usageRows`, but including the partial hours at both ends of the range. The figures of these hours come from the
 * log rows, so deleted rows are missing. An hour belongs to the day in which it begins.
 */
export function exactRows({ start, end, days, ...ask }: ExactAsk): RawBuilder<unknown> {
  const keys = [ask.group, ask.second].flatMap((key) => (key === undefined ? [] : [key]))
  const kind = kindFor(ask.filter, keys)
  const { whole, edges } = splitRange(start, end)
  const pieces = days ?? [{ from: whole.from, offset: undefined }]
  const parts = pieces.flatMap(({ from, offset }, index) => {
    const range = {
      from: index === 0 ? whole.from : Math.max(whole.from, from),
      to: Math.min(whole.to, pieces[index + 1]?.from ?? whole.to),
    }
    if (range.from >= range.to) return []
    // The division rounds towards zero. A day is therefore added before it and subtracted after it.
    const bucket = offset === undefined ? undefined : { minutes: dayMinutes, shift: offset + dayMinutes }
    return [sql`select * from (${usageRows({ ...ask, kind, range, ...(bucket && { bucket }) })}) hours`]
  })
  const columns = ask.figures ?? figureColumns
  const figures = sql.raw(columns.map((name: keyof UsageFigures) => `${figureOfRow[name]} as ${name}`).join(', '))
  const offsetAt = (second: number) => pieces.findLast(({ from }) => from * hourSeconds <= second) ?? pieces[0]
  const rows = edges.flatMap((edge) => {
    const offset = offsetAt(edge.from)?.offset
    const day = offset === undefined ? sql`0` : sql.raw(`(l.created_at / 60 + ${offset + dayMinutes}) / ${dayMinutes}`)
    const g = ask.group === undefined ? sql`0` : sql.ref(`l.${ask.group}`)
    const keyColumns = ask.second === undefined ? sql`${g} as g` : sql`${g} as g, ${sql.ref(`l.${ask.second}`)} as h`
    // Two queries instead of one with `or`, so that each is a range of ids.
    return [uncounted, inHourOf(edge)].map(
      (where) => sql`
      select ${keyColumns}, ${day} as bucket, ${figures} from logs l
      where ${where} and ${matches('l', ask.filter)} and l.created_at >= ${edge.from} and l.created_at < ${edge.until}`,
    )
  })
  const all = [...parts, ...rows]
  // A range of less than an hour has no whole hours, and an empty range has no rows at all.
  if (all.length === 0) return sql`select * from (${usageRows({ ...ask, kind, range: whole })}) hours`
  return sql.join(all, sql` union all `)
}
