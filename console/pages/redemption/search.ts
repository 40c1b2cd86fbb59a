import { type ListSearch, oneOf, parseListSearch, type RawSearch } from '../../lib/url-state.ts'

/** As `redemptionStatus` of the contract, which is not loaded for it. */
const statuses = ['1', '2', '3'] as const

/** What the redemption page keeps in its address. */
export interface RedemptionSearch extends ListSearch {
  /** 1 unused, 2 disabled, 3 used; absent: all. */
  status?: string | undefined
}

/** Reads the query of the redemption page. */
export function parseRedemptionSearch(raw: RawSearch): RedemptionSearch {
  return { ...parseListSearch(raw), status: oneOf(raw['status'], statuses) }
}
