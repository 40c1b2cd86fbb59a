import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type UsageRow, usageTableApi, usageTableSorts } from '../../../contract/api/usage-table.ts'
import { addressOf } from '../../lib/call.ts'
import type { FacetSearch } from '../../lib/facet-search.ts'
import { facetQuery, facetsOf, isFor } from '../../lib/facets.ts'
import { listSourceOf } from '../../lib/list-source.ts'
import { readUsage } from '../../lib/read-usage.ts'
import { isAdmin, sessionUser } from '../../lib/session.ts'
import { isOfCosts } from './money-metrics.ts'
import { momentOf, rollupOf, timeOf } from './range.ts'
import { rememberedRange } from './remembered-range.ts'
import type { UsageSearch } from './search.ts'

/** A view of the usage page, with its defaults filled in. */
type Chosen = Omit<UsageSearch, 'page' | 'q' | 'sort' | 'and' | keyof FacetSearch>

export type UsageView = { [K in keyof Chosen]-?: NonNullable<Chosen[K]> } & Pick<UsageSearch, 'and'> & {
    /** Only the filters that this user may set. */
    facets: FacetSearch
  }

/** Fills in the defaults for values that a URL omits. */
export function viewOf(search: UsageSearch): UsageView {
  const range = search.range ?? rememberedRange()
  const [from, to] = range === 'custom' ? [momentOf(search.from), momentOf(search.to)] : ['', '']
  const group = search.group ?? 'model'
  const and = search.and !== group && group !== 'none' && canSee(search.and) ? search.and : undefined
  return {
    metric: search.metric !== undefined && canShow(search.metric) ? search.metric : 'quota',
    group,
    and,
    rollup: rollupOf({ range, from, to }, search.rollup),
    range,
    from,
    to,
    cumulative: search.cumulative ?? '',
    facets: facetsOf(search, isAdmin(sessionUser())),
  }
}

const canShow = (metric: string) => !isOfCosts(metric) || isAdmin(sessionUser())

const canSee = (and: UsageSearch['and']) => and !== undefined && isFor(isAdmin(sessionUser()), and)

/** The filters of a view, as they are stored in the URL. */
export function narrowingOf({ facets }: UsageView): FacetSearch {
  return facets
}

const serverFacets = ({ facets }: UsageView) => facetQuery(facets, isAdmin(sessionUser()))

/** The log page's search for a view and a time range; `to` is exclusive. */
export function logsOf(view: UsageView, time: { from: number; to: number }) {
  return { ...narrowingOf(view), from: String(time.from), to: String(time.to - 1) }
}

/** Number of groups that the chart shows by name; the rest are combined. */
const top = 6

/** The usage of a view, with the previous period. */
export const usageQuery = (view: UsageView) =>
  queryOptions({
    queryKey: ['usage', { ...view, cumulative: '', and: undefined }],
    queryFn: ({ signal }) => {
      const { from, to } = timeOf(view) ?? { from: 0, to: 0 }
      const query = {
        ...serverFacets(view),
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

/** The query values of the table and of its file. The view must have a grouping. */
export function tableQuery(view: UsageView) {
  const { from, to } = timeOf(view) ?? { from: 0, to: 0 }
  return {
    by: view.group === 'none' ? ('model' as const) : view.group,
    and: view.and,
    start_timestamp: from,
    end_timestamp: to - 1,
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...serverFacets(view),
  }
}

/** The URL of the file with all rows of a view. */
export function exportAddress(view: UsageView, { q, sort }: UsageSearch): string {
  const sorted = usageTableSorts.find((each) => each === sort?.replace(/^-/, ''))
  const order = sorted && { sort: sorted, order: sort?.startsWith('-') ? ('desc' as const) : ('asc' as const) }
  return addressOf(usageTableApi.export, {
    query: {
      ...tableQuery(view),
      ...(q !== undefined && { keyword: q }),
      ...order,
    },
  })
}
