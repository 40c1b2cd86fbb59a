import type { Statement } from '../../../contract/api/statement.ts'
import { logType } from '../../../contract/log-types.ts'
import { givingTypes, type StatementFigures, sumOf } from './statement.ts'

/** The amounts of a statement. */
export type StatementBalances = Omit<Statement, 'month' | 'time_zone' | 'start' | 'end' | 'user'>

/** Calculates the amounts of a month's statement from the current balance and the changes in and after the month. */
export function statementBalances(
  figures: StatementFigures,
  month: { start: number; end: number; isOver: boolean; withCosts: boolean },
): StatementBalances {
  const { inside, later, ever } = figures
  const net = (parts: typeof inside) => sumOf(parts, ...givingTypes) - sumOf(parts, logType.consume)
  const withoutRow = figures.granted - sumOf(ever, ...givingTypes)
  // If the account was created after `amountsSince`, all of its changes have a log row with their amount, except the
  // initial credit of an account such as root.
  const initial = figures.createdAt >= figures.amountsSince ? Math.max(0, withoutRow) : 0
  const isNew = figures.createdAt >= month.start && figures.createdAt <= month.end
  const closing = figures.balance - net(later) - (figures.createdAt > month.end ? initial : 0)
  const given = isNew ? initial : 0
  const unknown_changes = withoutRow - initial
  const unknown_charges = figures.used - sumOf(ever, logType.consume)
  return {
    opening: closing - net(inside) - given,
    top_ups: sumOf(inside, logType.topUp),
    bonuses: sumOf(inside, logType.system) + given,
    adjustments: sumOf(inside, logType.manage),
    charges: sumOf(inside, logType.consume),
    closing,
    held: month.isOver ? 0 : figures.held,
    models: inside
      .filter(({ type }) => type === logType.consume)
      .map(({ model, requests, prompt_tokens, completion_tokens, quota, cost, margin }) => ({
        model,
        requests,
        prompt_tokens,
        completion_tokens,
        quota,
        ...(month.withCosts && (cost !== 0 || margin !== 0) && { cost, margin }),
      }))
      .sort((a, b) => b.quota - a.quota || (a.model < b.model ? -1 : 1)),
    is_exact: unknown_charges === 0 && (unknown_changes === 0 || month.start >= figures.amountsSince),
    unknown_changes,
    unknown_charges,
  }
}
