import { type FacetSearch, parseFacets } from '../../lib/facet-search.ts'
import type { RawSearch } from '../../lib/url-query.ts'
import { type ListSearch, oneOf, parseListSearch, texts } from '../../lib/url-state.ts'

export const shownMetrics = ['quota', 'requests', 'tokens', 'failed', 'cost', 'margin'] as const
export const shownGroups = ['model', 'token', 'project', 'user', 'channel', 'none'] as const
export const shownRollups = ['hour', 'day', 'week', 'month'] as const
/** The second dimension of the table. */
export const shownSeconds = ['model', 'user', 'day'] as const
export const shownRanges = [
  'today',
  'yesterday',
  '24h',
  '7d',
  '30d',
  '90d',
  'month',
  'lastMonth',
  'quarter',
  'custom',
] as const
/** The state of the usage page, stored in the URL; an absent field means the default. */
export interface UsageSearch extends Pick<ListSearch, 'page' | 'q' | 'sort'>, FacetSearch {
  metric?: (typeof shownMetrics)[number] | undefined
  group?: (typeof shownGroups)[number] | undefined
  /** The table's second dimension. Without it, each row is one group. */
  and?: (typeof shownSeconds)[number] | undefined
  rollup?: (typeof shownRollups)[number] | undefined
  range?: (typeof shownRanges)[number] | undefined
  /** Start in epoch seconds, for a custom range. */
  from?: string | undefined
  /** End in epoch seconds, exclusive. */
  to?: string | undefined
  /** With `1`, each bar includes all bars before it. */
  cumulative?: string | undefined
}

const otherTexts = texts('from', 'to', 'cumulative')

/** Reads the query of the usage page. */
export function parseUsageSearch(raw: RawSearch): UsageSearch {
  const { page, q, sort } = parseListSearch(raw)
  return {
    metric: oneOf(raw['metric'], shownMetrics),
    group: oneOf(raw['group'], shownGroups),
    and: oneOf(raw['and'], shownSeconds),
    rollup: oneOf(raw['rollup'], shownRollups),
    range: oneOf(raw['range'], shownRanges),
    ...otherTexts(raw),
    ...parseFacets(raw),
    page,
    q,
    sort,
  }
}
