import { type FacetSearch, parseFacets } from '../../lib/facet-search.ts'
import type { RawSearch } from '../../lib/url-query.ts'
import { type ListSearch, parseListSearch, texts } from '../../lib/url-state.ts'

/** The state of the log page, stored in the URL; numbers are stored as text. An absent field means no filter. */
export interface LogSearch extends ListSearch, FacetSearch {
  /** A log type, such as 1 for top-ups and 4 for system rows. */
  type?: string | undefined
  /** Outcomes to include, such as `failed`, and outcomes to exclude. Both may have several values. */
  outcome?: string | undefined
  not_outcome?: string | undefined
  /** With the outcome `slow`: the minimum duration in seconds. */
  slow?: string | undefined
  /** Start of the range in epoch seconds, or a span such as `24h` that ends now. */
  from?: string | undefined
  /** End of the range in epoch seconds. */
  to?: string | undefined
  /** With `1`, administrators see only their own rows. */
  mine?: string | undefined
  /** Id of a request whose row the drawer shows. */
  request?: string | undefined
}

const otherTexts = texts('type', 'outcome', 'not_outcome', 'slow', 'from', 'to', 'mine', 'request')

/** Reads the query of the log page. */
export function parseLogSearch(raw: RawSearch): LogSearch {
  return { ...parseListSearch(raw), ...otherTexts(raw), ...parseFacets(raw) }
}
