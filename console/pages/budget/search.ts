import { type ListSearch, oneOf, parseListSearch, type RawSearch, wholeNumber } from '../../lib/url-state.ts'

export const shownOwners = ['user', 'token'] as const
export const shownPeriods = ['total', 'day', 'month'] as const
export const shownLevels = ['near', 'critical', 'runs_out'] as const

/** The state of the budgets page, stored in the URL; an absent filter means all. */
export interface BudgetSearch extends ListSearch {
  owner?: (typeof shownOwners)[number] | undefined
  period?: (typeof shownPeriods)[number] | undefined
  level?: (typeof shownLevels)[number] | undefined
  /** Id of the account whose limits are listed, for administrators. */
  user?: number | undefined
}

/** Reads the query of the budgets page. */
export function parseBudgetSearch(raw: RawSearch): BudgetSearch {
  return {
    ...parseListSearch(raw),
    owner: oneOf(raw['owner'], shownOwners),
    period: oneOf(raw['period'], shownPeriods),
    level: oneOf(raw['level'], shownLevels),
    user: wholeNumber(raw['user'], 1),
  }
}
