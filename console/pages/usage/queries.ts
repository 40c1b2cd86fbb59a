import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { readUsage } from '../../lib/read-usage.ts'
import { isAdmin, sessionUser } from '../../lib/session.ts'
import { isChannelId, isFor, shownFilters, type UsageFilter } from './choices.ts'
import { momentOf, rollupOf, timeOf } from './range.ts'
import type { UsageSearch } from './search.ts'

/** A view of the usage page, with its defaults filled in. */
export type UsageView = { [K in keyof UsageSearch]-?: NonNullable<UsageSearch[K]> }

/** Fills in the defaults for values that a URL omits. */
export function viewOf(search: UsageSearch): UsageView {
  const range = search.range ?? '30d'
  const [from, to] = range === 'custom' ? [momentOf(search.from), momentOf(search.to)] : ['', '']
  return {
    metric: search.metric ?? 'quota',
    group: search.group ?? 'model',
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
    queryKey: ['usage', { ...view, cumulative: '' }],
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
        top,
        compare: 'previous',
      }
      return readUsage(query, signal)
    },
    placeholderData: keepPreviousData,
  })
