import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { readUsage } from '../../lib/read-usage.ts'
import type { UsageSearch } from './search.ts'

const rangeSeconds = { '24h': 86_400, '7d': 7 * 86_400, '30d': 30 * 86_400, '90d': 90 * 86_400 } as const

/** A view of the usage with its defaults filled in. */
export type UsageView = { [K in keyof UsageSearch]-?: NonNullable<UsageSearch[K]> }

/** Fills in what an address leaves out. */
export function viewOf(search: UsageSearch): UsageView {
  const range = search.range ?? '30d'
  return {
    metric: search.metric ?? 'quota',
    group: search.group ?? 'model',
    rollup: search.rollup ?? (range === '24h' ? 'hour' : 'day'),
    range,
    cumulative: search.cumulative ?? '',
  }
}

/** The time that a view shows, in epoch seconds, ending with the running hour. */
export function rangeOf({ range }: UsageView): { from: number; to: number } {
  const to = Math.ceil(Date.now() / 3_600_000) * 3600
  return { from: to - rangeSeconds[range], to }
}

/** Groups that are named in the chart; the rest are one. */
const top = 6

/** The usage of a view, with the period before. */
export const usageQuery = (view: UsageView) =>
  queryOptions({
    queryKey: ['usage', { ...view, cumulative: '' }],
    queryFn: ({ signal }) => {
      const { from, to } = rangeOf(view)
      const query = {
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
