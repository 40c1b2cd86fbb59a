import { type RawSearch, wholeNumber } from '../../lib/url-state.ts'

/** The state of the statement page, stored in the URL. */
export interface StatementSearch {
  /** YYYY-MM; the default is last month. */
  month?: string | undefined
  /** Id of the account, for administrators; the default is the user's own. */
  user?: number | undefined
}

/** Reads the query of the statement page. */
export function parseStatementSearch(raw: RawSearch): StatementSearch {
  const month = raw['month']
  return {
    month: month !== undefined && /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month) ? month : undefined,
    user: wholeNumber(raw['user'], 1),
  }
}
