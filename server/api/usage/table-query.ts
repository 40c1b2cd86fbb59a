import type { api } from '../../../contract/api/index.ts'
import type { UsageDimension } from '../../../contract/api/usage-table.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { Person } from '../../http/app-env.ts'
import type { PersonCall } from '../../http/serve-endpoint.ts'
import { offsetPieces, type TimeZone, timeZone } from '../../lib/time-zone.ts'
import type { Db } from '../../store/store.ts'
import { firstUsageHour } from '../../store/usage/usage-query.ts'
import type { RowFilter } from '../../store/usage/usage-series.ts'
import type { Seconds, TableAsk, TableDimension, TableSort } from '../../store/usage/usage-table.ts'

type Query = PersonCall<typeof api.usage.export>['query']

const columns = {
  user: 'user_id',
  token: 'token_id',
  model: 'model_name',
  channel: 'channel_id',
  day: 'day',
} as const satisfies Record<UsageDimension, TableDimension>

/** A table as it was asked for: what the database is asked, and how its time is divided. */
export interface TablePlan {
  ask: Omit<TableAsk, 'offset' | 'limit'>
  by: readonly UsageDimension[]
  range: Seconds
  zone: TimeZone
}

const hourSeconds = 3600

/** Checks what was asked for. People who are not admins see their own calls, and nothing about channels. */
export async function planTable(db: Db, query: Query, person: Person, now: number): Promise<TablePlan> {
  const by = query.and === undefined ? [query.by] : [query.by, query.and]
  if (query.by === query.and) throw new ApiFailure('Choose two different dimensions.')
  const zone = timeZone(query.time_zone)
  if (!zone) throw new ApiFailure('time_zone must be the name of a time zone, such as Europe/Berlin.')
  const filter = filterFor(query, by, person)
  // The current hour is not over, so its rows are the whole hour's.
  const openEnd = (Math.floor(now / hourSeconds) + 1) * hourSeconds - 1
  const end = query.end_timestamp === 0 ? openEnd : Math.min(query.end_timestamp, openEnd)
  const first = query.start_timestamp === 0 ? await firstUsageHour(db, filter) : undefined
  const start = query.start_timestamp || (first ?? Math.floor(now / hourSeconds)) * hourSeconds
  const range = { start: Math.min(start, end + 1), end }
  const isCompared = query.compare !== undefined && query.start_timestamp !== 0 && !by.includes('day')
  return {
    by,
    range,
    zone,
    ask: {
      filter,
      by: by.map((each) => columns[each]),
      range,
      days: by.includes('day') ? offsetPieces(zone, range.start, range.end) : [],
      ...(isCompared && { before: { start: Math.max(0, 2 * range.start - range.end - 1), end: range.start - 1 } }),
      keyword: query.keyword.trim(),
      ...orderOf(query),
    },
  }
}

function filterFor(query: Query, by: readonly UsageDimension[], person: Person): RowFilter {
  const { token_name, model_name, username, channel } = query
  if (person.role >= roles.admin) return { token_name, model_name, username, channel }
  if (by.includes('channel')) throw new ApiFailure('Usage by channel is for admins.')
  return { token_name, model_name, userId: person.id }
}

function orderOf({ sort, order }: Query): { sort: TableSort; descending: boolean } {
  const named = order === 'asc' || order === 'desc' ? sort : (sort ?? order)
  return { sort: named ?? 'quota', descending: order !== 'asc' }
}
