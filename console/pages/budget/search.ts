import type { RawSearch } from '../../lib/url-query.ts'
import { type ListSearch, parseListSearch, texts } from '../../lib/url-state.ts'

/** The state of the budgets page, stored in the URL. An absent filter means all. The page validates the values. */
export interface BudgetSearch extends ListSearch {
  owner?: string | undefined
  period?: string | undefined
  level?: string | undefined
  /** Id of the account whose limits are listed, for administrators. */
  user?: string | undefined
}

const filters = texts('owner', 'period', 'level', 'user')

/** Reads the query of the budgets page. */
export function parseBudgetSearch(raw: RawSearch): BudgetSearch {
  return { ...parseListSearch(raw), ...filters(raw) }
}
