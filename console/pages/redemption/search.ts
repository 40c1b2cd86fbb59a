import { type ListSearch, parseListSearch, type RawSearch, someText } from '../../lib/url-state.ts'

/** What the redemption page keeps in its address. */
export interface RedemptionSearch extends ListSearch {
  /** 1 unused, 2 disabled, 3 used; absent: all. */
  status?: string | undefined
}

/** Reads the query of the redemption page. */
export function parseRedemptionSearch(raw: RawSearch): RedemptionSearch {
  return { ...parseListSearch(raw), status: someText(raw['status']) }
}
