import { type ListSearch, oneOf, parseListSearch, type RawSearch } from '../../lib/url-state.ts'

const statuses = ['1', '2', '3'] as const

/** What the redemption page keeps in its address. */
export interface RedemptionSearch extends ListSearch {
  /** 1 unused, 2 disabled, 3 used; absent: all. */
  status?: (typeof statuses)[number] | undefined
}

/** Reads the query of the redemption page. */
export function parseRedemptionSearch(raw: RawSearch): RedemptionSearch {
  return { ...parseListSearch(raw), status: oneOf(raw['status'], statuses) }
}
