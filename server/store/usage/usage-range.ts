import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type HourRange, hourSeconds, hoursOf } from './usage-series.ts'

/** A part of one hour, in epoch seconds. `until` is exclusive. */
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

/** The time that represents an open end. It is later than any row, and a whole number of days. */
const openEnd = 86_400 * 10_000_000

/** Splits a range of epoch seconds. Both ends are included. An end of 0 is open. */
export function splitRange(start: number, end: number): SplitRange {
  const until = end === 0 ? openEnd : Math.min(openEnd, end + 1)
  const from = Math.ceil(start / hourSeconds)
  const to = Math.max(from, Math.floor(until / hourSeconds))
  const head = { from: start, until: Math.min(until, from * hourSeconds) }
  const tail = { from: Math.max(to * hourSeconds, head.until), until }
  const edges = [head, tail].filter((edge) => edge.from < edge.until)
  return { whole: { from, to }, edges, from: start, until }
}

/** The counted rows `l` of the hour that contains an edge. The sums record the first and the last id of these rows. */
export function inHourOf(edge: Edge): RawBuilder<SqlBool> {
  const hour = Math.floor(edge.from / hourSeconds)
  const idOf = (which: string) =>
    sql`(select ${sql.raw(which)} from usage_series s ${hoursOf({ from: hour, to: hour + 1 })} and s.kind = 'all')`
  return sql<SqlBool>`l.id between ${idOf('min(u.first_id)')} and ${idOf('max(u.last_id)')}`
}
