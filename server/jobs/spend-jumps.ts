import type { Settings } from '../settings/settings.ts'
import type { Db } from '../store/store.ts'
import { rankUsage, usageInBuckets, usageNames } from '../store/usage/usage-query.ts'

const dayHours = 24
const daySeconds = 86_400
const watchedSpenders = 50
const medianDays = 14
/** The minimum number of days for a meaningful median. */
const leastDays = 3

/** A user who spent far more today than on a usual day. Amounts are in quota units. */
export interface SpendJump {
  id: number
  name: string
  spent: number
  median: number
}

/**
 * Users whose spending today is at least one unit of currency and more than `factor` times their median of the last 14
 * days. Days are in UTC, because daily sums are stored for UTC days.
 */
export async function spendJumps(db: Db, settings: Settings, now: number, factor: number): Promise<SpendJump[]> {
  const today = Math.floor(now / daySeconds)
  const from = today * dayHours
  const ask = { filter: {}, group: 'user_id', metric: 'quota' } as const
  const { top } = await rankUsage(db, { ...ask, range: { from, to: from + dayHours }, limit: watchedSpenders })
  const spenders = top.filter(({ quota }) => quota >= settings.QuotaPerUnit)
  if (spenders.length === 0) return []
  const only = spenders.map(({ g }) => g)
  const range = { from: from - medianDays * dayHours, to: from }
  const bucket = { minutes: dayHours * 60, shift: 0 }
  const [days, names] = await Promise.all([
    usageInBuckets(db, { ...ask, range, only, bucket }),
    usageNames(db, 'user_id', only.map(Number)),
  ])
  return spenders.flatMap(({ g, quota: spent }): SpendJump[] => {
    const amounts = days.filter((day) => day.g === g && day.over > 0).map(({ over }) => over)
    const median = medianOf(amounts)
    if (amounts.length < leastDays || spent <= factor * median) return []
    return [{ id: Number(g), name: names.get(Number(g)) ?? String(g), spent, median }]
  })
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return Math.round(((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2)
}
