import { noFacets } from '../../lib/facets.ts'
import type { UsageSearch } from './search.ts'

/** A search without any choices, to which the defaults apply. */
export const noChoices = {
  metric: undefined,
  group: undefined,
  and: undefined,
  rollup: undefined,
  range: undefined,
  from: undefined,
  to: undefined,
  cumulative: undefined,
  ...noFacets,
  page: undefined,
  q: undefined,
  sort: undefined,
} as const satisfies UsageSearch
