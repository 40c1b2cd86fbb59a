import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type HourRange, hourSeconds, hoursOf } from './usage-series.ts'

/** A partial hour at an end of a range, in epoch seconds. `until` is exclusive. */
export interface Edge {
  from: number
  until: number
}

/** A time range as whole hours, and the partial hours at its ends. */
export interface SplitRange {
  whole: HourRange
  edges: Edge[]
  /** The range itself, in epoch seconds. `until` is exclusive. */
  from: number
  until: number
}

/** The end of a range that has no end, in epoch seconds. It is a midnight that is later than any row. */
const openEnd = 86_400 * 10_000_000

/** Splits the range from the second `start` to the second `end`, both included. If `end` is 0, the range has no end. */
export function splitRange(start: number, end: number): SplitRange {
  const until = end === 0 ? openEnd : Math.min(openEnd, end + 1)
  const from = Math.ceil(start / hourSeconds)
  const to = Math.max(from, Math.floor(until / hourSeconds))
  const head = { from: start, until: Math.min(until, from * hourSeconds) }
  const tail = { from: Math.max(to * hourSeconds, head.until), until }
  const edges = [head, tail].filter((edge) => edge.from < edge.until)
  return { whole: { from, to }, edges, from: start, until }
}

/**
 * The condition for the counted rows `l` in the hour that contains an edge. It compares the ids of the rows with the
 * lowest and the highest id in the hourly sums, so other rows can match, too.
 */
export function inHourOf(edge: Edge): RawBuilder<SqlBool> {
  const hour = Math.floor(edge.from / hourSeconds)
  const idOf = (which: string) =>
    sql`(select ${sql.raw(which)} from usage_series s ${hoursOf({ from: hour, to: hour + 1 })} and s.kind = 'all')`
  return sql<SqlBool>`l.id between ${idOf('min(u.first_id)')} and ${idOf('max(u.last_id)')}`
}
