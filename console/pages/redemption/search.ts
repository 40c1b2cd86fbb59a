import type { RawSearch } from '../../lib/url-query.ts'
import { type ListSearch, oneOf, parseListSearch, someText, texts, wholeNumber } from '../../lib/url-state.ts'

/** Same as `redemptionStatus` and `redemptionExpired` of the contract, copied so that the contract need not be loaded. */
const statuses = ['1', '2', '3', '4'] as const

/** The state of the redemption page, stored in the URL. */
export interface RedemptionSearch extends ListSearch {
  /** 1 unused, 2 disabled, 3 used, 4 expired; if absent, all codes are listed. */
  status?: string | undefined
  /** Only codes with this name. */
  batch?: string | undefined
}

/** Reads the query of the redemption page. */
export function parseRedemptionSearch(raw: RawSearch): RedemptionSearch {
  return { ...parseListSearch(raw), status: oneOf(raw['status'], statuses), batch: someText(raw['batch']) }
}

/** The state of the sheet of QR codes: the batch and the page. */
export interface SheetSearch {
  batch?: string | undefined
  page?: number | undefined
}

const batchText = texts('batch')

/** Reads the query of the sheet of QR codes. */
export function parseSheetSearch(raw: RawSearch): SheetSearch {
  return { ...batchText(raw), page: wholeNumber(raw['page'], 2) }
}
