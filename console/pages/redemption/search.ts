import { type ListSearch, parseListSearch, type RawSearch } from '../../lib/url-state.ts'

/** What the redemption page keeps in its address. */
export type RedemptionSearch = ListSearch

/** Reads the query of the redemption page. */
export function parseRedemptionSearch(raw: RawSearch): RedemptionSearch {
  return parseListSearch(raw)
}
