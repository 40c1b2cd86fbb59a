import { oneOf, type RawSearch, someText } from '../../lib/url-state.ts'

export const shownMetrics = ['quota', 'requests', 'tokens'] as const
export const shownGroups = ['model', 'token', 'user', 'channel', 'none'] as const
export const shownRollups = ['hour', 'day', 'week', 'month'] as const
export const shownRanges = ['24h', '7d', '30d', '90d'] as const

/** What the usage page keeps in its address; absent means the default. */
export interface UsageSearch {
  metric?: (typeof shownMetrics)[number] | undefined
  group?: (typeof shownGroups)[number] | undefined
  rollup?: (typeof shownRollups)[number] | undefined
  range?: (typeof shownRanges)[number] | undefined
  /** `1`: each bar has all before it in it. */
  cumulative?: string | undefined
}

/** A search with nothing chosen. */
export const noChoices = {
  metric: undefined,
  group: undefined,
  rollup: undefined,
  range: undefined,
  cumulative: undefined,
} as const satisfies UsageSearch

/** Reads the query of the usage page. */
export function parseUsageSearch(raw: RawSearch): UsageSearch {
  return {
    metric: oneOf(raw['metric'], shownMetrics),
    group: oneOf(raw['group'], shownGroups),
    rollup: oneOf(raw['rollup'], shownRollups),
    range: oneOf(raw['range'], shownRanges),
    cumulative: someText(raw['cumulative']),
  }
}
