import { type Budget, budgetApi, budgetSorts } from '../../../contract/api/budget.ts'
import { addressOf } from '../../lib/call.ts'
import { listSourceOf } from '../../lib/list-source.ts'
import { oneOf, wholeNumber } from '../../lib/url-state.ts'
import type { BudgetSearch } from './search.ts'

export const shownOwners = ['user', 'token'] as const
export const shownPeriods = ['total', 'day', 'month'] as const
export const shownLevels = ['near', 'critical', 'runs_out'] as const

/** Limits on spending, in pages. */
export const budgets = listSourceOf<Budget>('budget', true, () => budgetApi.budgets)

/** The filters of a search in the server's format. Only administrators can choose an account. */
export const filterOf = ({ owner, period, level, user }: BudgetSearch, admin: boolean) => ({
  owner: oneOf(owner, shownOwners),
  period: oneOf(period, shownPeriods),
  level: oneOf(level, shownLevels),
  user_id: admin ? wholeNumber(user, 1) : undefined,
})

/** The URL of the file with all rows of a search. */
export function exportAddress(search: BudgetSearch, admin: boolean): string {
  const { user_id, ...filters } = filterOf(search, admin)
  const sorted = budgetSorts.find((each) => each === search.sort?.replace(/^-/, ''))
  return addressOf(budgetApi.budgetsExport, {
    query: {
      ...filters,
      ...(user_id !== undefined && { user_id: String(user_id) }),
      ...(search.q !== undefined && { keyword: search.q }),
      ...(sorted && { sort: sorted, order: search.sort?.startsWith('-') ? ('desc' as const) : ('asc' as const) }),
    },
  })
}
