import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type UsageRow, usageTableApi, usageTableSorts } from '../../../contract/api/usage-table.ts'
import { addressOf } from '../../lib/call.ts'
import { listSourceOf } from '../../lib/list-source.ts'
import { readUsage } from '../../lib/read-usage.ts'
import { isAdmin, sessionUser } from '../../lib/session.ts'
import { isChannelId, isFor, shownFilters, type UsageFilter } from './choices.ts'
import { momentOf, rememberedRange, rollupOf, timeOf } from './range.ts'
import type { UsageSearch } from './search.ts'

/** A view of the usage page, with its defaults filled in. */
type Chosen = Omit<UsageSearch, 'page' | 'q' | 'sort' | 'and'>

export type UsageView = { [K in keyof Chosen]-?: NonNullable<Chosen[K]> } & Pick<UsageSearch, 'and'>

/** Fills in the defaults for values that a URL omits. */
export function viewOf(search: UsageSearch): UsageView {
  const range = search.range ?? rememberedRange()
  const [from, to] = range === 'custom' ? [momentOf(search.from), momentOf(search.to)] : ['', '']
  const group = search.group ?? 'model'
  const and = search.and !== group && group !== 'none' && canSee(search.and) ? search.and : undefined
  return {
    metric: search.metric ?? 'quota',
    group,
    and,
    rollup: rollupOf({ range, from, to }, search.rollup),
    range,
    from,
    to,
    cumulative: search.cumulative ?? '',
    model: search.model ?? '',
    token: search.token ?? '',
    user: search.user ?? '',
    channel: isChannelId(search.channel) ? search.channel : '',
  }
}

const canSee = (and: UsageSearch['and']) => and !== undefined && isFor(isAdmin(sessionUser()), and)

/** The filters of a view, by name; only administrators filter by user and channel. */
export function filtersOf(view: UsageView): Partial<Record<UsageFilter, string>> {
  const admin = isAdmin(sessionUser())
  const own = shownFilters.filter((name) => isFor(admin, name))
  return Object.fromEntries(own.flatMap((name) => (view[name] === '' ? [] : [[name, view[name]]])))
}

/** The log page's search for a view and a time range; `to` is exclusive. */
export function logsOf(view: UsageView, time: { from: number; to: number }) {
  return { ...filtersOf(view), from: String(time.from), to: String(time.to - 1) }
}

/** Number of groups that the chart shows by name; the rest are combined. */
const top = 6

/** The usage of a view, with the previous period. */
export const usageQuery = (view: UsageView) =>
  queryOptions({
    queryKey: ['usage', { ...view, cumulative: '', and: undefined }],
    queryFn: ({ signal }) => {
      const { from, to } = timeOf(view) ?? { from: 0, to: 0 }
      const { model, token, user, channel } = filtersOf(view)
      const query = {
        model_name: model,
        token_name: token,
        username: user,
        channel,
        metric: view.metric,
        group_by: view.group,
        rollup: view.rollup,
        start_timestamp: from,
        end_timestamp: to - 1,
        utc_offset: -new Date().getTimezoneOffset(),
        time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        top,
        compare: 'previous',
      }
      return readUsage(query, signal)
    },
    placeholderData: keepPreviousData,
  })

/** All groups of a view, in pages. */
export const usageRows = listSourceOf<UsageRow>('usage rows', true, () => usageTableApi.table)

/** The query values of the table and of its file. The view groups by something. */
export function tableQuery(view: UsageView) {
  const { from, to } = timeOf(view) ?? { from: 0, to: 0 }
  const { model, token, user, channel } = filtersOf(view)
  return {
    by: view.group === 'none' ? ('model' as const) : view.group,
    and: view.and,
    start_timestamp: from,
    end_timestamp: to - 1,
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(model !== undefined && { model_name: model }),
    ...(token !== undefined && { token_name: token }),
    ...(user !== undefined && { username: user }),
    ...(channel !== undefined && { channel: Number(channel) }),
  }
}

/** The address of the file with all rows of a view. */
export function exportAddress(view: UsageView, { q, sort }: UsageSearch): string {
  const sorted = usageTableSorts.find((each) => each === sort?.replace(/^-/, ''))
  const order = sorted && { sort: sorted, order: sort?.startsWith('-') ? ('desc' as const) : ('asc' as const) }
  const { start_timestamp, end_timestamp, channel, ...query } = tableQuery(view)
  return addressOf(usageTableApi.export, {
    query: {
      ...query,
      start_timestamp: String(start_timestamp),
      end_timestamp: String(end_timestamp),
      ...(channel !== undefined && { channel: String(channel) }),
      ...(q !== undefined && { keyword: q }),
      ...order,
    },
  })
}
