import { utcPeriods } from '../lib/utc.ts'

/** What a row says was spent, seen from now: nothing, when it was in a day or month that is over. */
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
