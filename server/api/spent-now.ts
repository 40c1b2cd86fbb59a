import { utcPeriods } from '../lib/utc.ts'

/** The amounts spent in the current day and month according to a row; 0 if the row's day or month is over. */
export function spentNow(
  row: { spent_today: number; spent_month: number; spent_at: number },
  nowSeconds: number,
): { spent_today: number; spent_month: number } {
  const { dayStart, monthStart } = utcPeriods(nowSeconds)
  return {
    spent_today: row.spent_at >= dayStart ? row.spent_today : 0,
    spent_month: row.spent_at >= monthStart ? row.spent_month : 0,
  }
}
