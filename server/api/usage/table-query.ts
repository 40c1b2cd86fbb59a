import type { api } from '../../../contract/api/index.ts'
import { costMetrics } from '../../../contract/api/usage.ts'
import type { UsageDimension } from '../../../contract/api/usage-table.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { Person } from '../../http/app-env.ts'
import type { PersonCall } from '../../http/serve-endpoint.ts'
import { offsetPieces, type TimeZone, timeZone } from '../../lib/time-zone.ts'
import type { Db } from '../../store/store.ts'
import type { DayPiece } from '../../store/usage/usage-exact.ts'
import { firstUsageHour } from '../../store/usage/usage-query.ts'
import type { RowFilter } from '../../store/usage/usage-series.ts'
import type { Seconds, TableAsk, TableDimension, TableSort } from '../../store/usage/usage-table.ts'

type Query = PersonCall<typeof api.usage.export>['query']

const columns = {
  user: 'user_id',
  token: 'token_id',
  project: 'project',
  model: 'model_name',
  channel: 'channel_id',
  day: 'day',
} as const satisfies Record<UsageDimension, TableDimension>

/** A requested table: the database query, the dimensions, the time range and the time zone. */
export interface TablePlan {
  ask: Omit<TableAsk, 'offset' | 'limit'>
  by: readonly UsageDimension[]
  range: Seconds
  zone: TimeZone
  /** Whether the reader may see costs and margins. */
  withCosts: boolean
}

const hourSeconds = 3600

/** Validates the request. People who are not admins see only their own calls, and nothing about channels. */
export async function planTable(db: Db, query: Query, person: Person, now: number): Promise<TablePlan> {
  const by = query.and === undefined ? [query.by] : [query.by, query.and]
  if (query.by === query.and) throw new ApiFailure('Choose two different dimensions.')
  const zone = timeZone(query.time_zone)
  if (!zone) throw new ApiFailure('time_zone must be the name of a time zone, such as Europe/Berlin.')
  const filter = filterFor(query, by, person)
  // A range ends at the end of the current hour at the latest, so that all rows of this hour are included.
  const openEnd = (Math.floor(now / hourSeconds) + 1) * hourSeconds - 1
  const end = query.end_timestamp === 0 ? openEnd : Math.min(query.end_timestamp, openEnd)
  const byDay = by.includes('day')
  const first =
    query.start_timestamp === 0 || byDay
      ? ((await firstUsageHour(db, filter)) ?? Math.floor(now / hourSeconds)) * hourSeconds
      : 0
  const range = { start: Math.min(Math.max(query.start_timestamp, first), end + 1), end }
  const isCompared = query.compare !== undefined && query.start_timestamp !== 0 && !byDay
  return {
    by,
    range,
    zone,
    withCosts: person.role >= roles.admin,
    ask: {
      filter,
      by: by.map((each) => columns[each]),
      range,
      days: byDay ? daysIn(zone, range) : [],
      ...(isCompared && { before: periodBefore(range) }),
      keyword: query.keyword.trim(),
      ...orderOf(query),
    },
  }
}

/**
 * The maximum number of parts of a query. Each clock change in the range adds a part, and databases limit their number.
 */
const mostPieces = 13

function daysIn(zone: TimeZone, { start, end }: Seconds): DayPiece[] {
  const pieces = offsetPieces(zone, start, end)
  if (pieces.length > mostPieces) throw new ApiFailure('A table by day covers at most six years. Choose a later start.')
  return pieces
}

/** The period of the same length before a range, but not before 1970. Undefined if there is none. */
function periodBefore({ start, end }: Seconds): Seconds | undefined {
  // Returns undefined for a start below 2, because the period would end at 0 or earlier, and an end of 0 means no end.
  return start < 2 ? undefined : { start: Math.max(0, 2 * start - end - 1), end: start - 1 }
}

function filterFor(query: Query, by: readonly UsageDimension[], person: Person): RowFilter {
  const { token_name, not_token_name, model_name, not_model_name, project, not_project } = query
  const own = { token_name, not_token_name, model_name, not_model_name, project, not_project }
  if (person.role >= roles.admin) {
    const { username, not_username, channel, not_channel, group, not_group } = query
    return { ...own, username, not_username, channel, not_channel, group, not_group }
  }
  if (costMetrics.includes(orderOf(query).sort)) throw new ApiFailure('Only admins can see costs and margins.')
  if (by.includes('channel')) throw new ApiFailure('Only admins can group usage by channel.')
  return { ...own, userId: person.id }
}

function orderOf({ sort, order }: Query): { sort: TableSort; descending: boolean } {
  const named = order === 'asc' || order === 'desc' ? sort : (sort ?? order)
  return { sort: named ?? 'quota', descending: order !== 'asc' }
}
