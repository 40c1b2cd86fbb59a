import { type RawBuilder, sql } from 'kysely'
import type { UsageFigures } from '../schema/usage-tables.ts'
import { inHourOf, splitRange } from './usage-range.ts'
import { type UsageAsk, usageRows } from './usage-rows.ts'
import { figureColumns, figureOfRow, groupingOf, hourSeconds, kindFor, matches, uncounted } from './usage-series.ts'

/** A query for usage in a time range with a precision of one second. */
export interface ExactAsk extends Omit<UsageAsk, 'kind' | 'range' | 'bucket' | 'only'> {
  /** Epoch seconds. Both ends are included. If `end` is 0, the range has no end. */
  start: number
  end: number
  /**
   * If set, rows are grouped by days in the reader's time zone, and `bucket` is the number of the day plus one. The
   * offset from UTC (in minutes, positive to the east) can change within the range, for example with daylight saving
   * time. Each piece is a part of the range with one offset, and ends where the next piece begins.
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
 * Like `usageRows`, but includes the partial hours at both ends of the range. The figures of these partial hours come
 * from the log rows, so rows that have been deleted are not counted. An hour belongs to the day in which it begins.
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
    // Integer division in SQL rounds towards zero, which is wrong for times before the first day. The bucket is
    // therefore one day higher than the day, and the caller subtracts one.
    const bucket = offset === undefined ? undefined : { minutes: dayMinutes, shift: offset + dayMinutes }
    return [sql`select * from (${usageRows({ ...ask, kind, range, ...(bucket && { bucket }) })}) hours`]
  })
  const columns = ask.figures ?? figureColumns
  const figures = sql.raw(columns.map((name: keyof UsageFigures) => `${figureOfRow[name]} as ${name}`).join(', '))
  const offsetAt = (second: number) => pieces.findLast(({ from }) => from * hourSeconds <= second) ?? pieces[0]
  const rows = edges.flatMap((edge) => {
    const offset = offsetAt(edge.from)?.offset
    const day = offset === undefined ? sql`0` : sql.raw(`(l.created_at / 60 + ${offset + dayMinutes}) / ${dayMinutes}`)
    const g = ask.group === undefined ? sql`0` : groupingOf('l', ask.group)
    const keyColumns = ask.second === undefined ? sql`${g} as g` : sql`${g} as g, ${groupingOf('l', ask.second)} as h`
    // There are two queries instead of one with `or`, so that each reads only one range of ids.
    return [uncounted, inHourOf(edge)].map(
      (where) => sql`
      select ${keyColumns}, ${day} as bucket, ${figures} from logs l
      where ${where} and ${matches('l', ask.filter)} and l.created_at >= ${edge.from} and l.created_at < ${edge.until}`,
    )
  })
  const all = [...parts, ...rows]
  // An empty range has neither whole hours nor edges, but the query still needs its columns.
  if (all.length === 0) return sql`select * from (${usageRows({ ...ask, kind, range: whole })}) hours`
  return sql.join(all, sql` union all `)
}
