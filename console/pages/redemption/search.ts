import type { RawSearch } from '../../lib/url-query.ts'
import { type ListSearch, oneOf, parseListSearch } from '../../lib/url-state.ts'

/** Same as `redemptionStatus` of the contract, copied so that the contract need not be loaded. */
const statuses = ['1', '2', '3'] as const

/** The state of the redemption page, stored in the URL. */
export interface RedemptionSearch extends ListSearch {
  /** 1 unused, 2 disabled, 3 used; if absent, all codes are listed. */
  status?: string | undefined
}

/** Reads the query of the redemption page. */
export function parseRedemptionSearch(raw: RawSearch): RedemptionSearch {
  return { ...parseListSearch(raw), status: oneOf(raw['status'], statuses) }
}
