import { texts } from '../../lib/url-state.ts'

/**
 * Reads the query of the statement page: the month (YYYY-MM, by default last month) and, for administrators, the id of
 * the account (by default their own). The page checks the values.
 */
export const parseStatementSearch = texts('month', 'user')
