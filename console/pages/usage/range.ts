import { maxUsageBuckets } from '../../../contract/api/usage.ts'
import { sinceDays } from '../../lib/days.ts'
import { wholeNumber } from '../../lib/url-state.ts'
import { shownRollups, type UsageSearch } from './search.ts'

type Rollup = (typeof shownRollups)[number]

/** A time range as chosen on the page; '' = not set. */
export interface UsageRange {
  range: NonNullable<UsageSearch['range']>
  /** Start in epoch seconds, for a custom range. */
  from: string
  /** End in epoch seconds, exclusive. */
  to: string
}

/** The last second of the year 9999. */
const lastMoment = 253_402_300_799

/** Epoch seconds from a URL; '' if the text is not a time. */
export function momentOf(text: string | undefined): string {
  const seconds = wholeNumber(text)
  return seconds === undefined || seconds > lastMoment ? '' : String(seconds)
}

const hourSeconds = 3600
const daySeconds = 86_400
const rangeDays: Partial<Record<UsageRange['range'], number>> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 }

/**
 * The time of a range in epoch seconds; `to` is exclusive. By default, the range ends with the current hour and covers
 * 30 days. The result is undefined if the range ends before it begins.
 */
export function timeOf(of: UsageRange, nowSeconds = Date.now() / 1000): { from: number; to: number } | undefined {
  const now = Math.ceil(nowSeconds / hourSeconds) * hourSeconds
  const days = rangeDays[of.range]
  if (days !== undefined) return { from: sinceDays(days, nowSeconds), to: now }
  if (of.range !== 'custom') return calendarTime(of.range, new Date(nowSeconds * 1000), now)
  const to = of.to === '' ? now : Number(of.to)
  const from = of.from === '' ? to - 30 * daySeconds : Number(of.from)
  return from < to ? { from: Math.max(0, from), to } : undefined
}

/** A range of whole days, months or quarters in the browser's time zone. The current day, month or quarter ends now. */
function calendarTime(range: UsageRange['range'], today: Date, now: number): { from: number; to: number } {
  const [year, month, day] = [today.getFullYear(), today.getMonth(), today.getDate()]
  const start = (monthIndex: number, dayOfMonth = 1) => new Date(year, monthIndex, dayOfMonth).getTime() / 1000
  switch (range) {
    case 'yesterday':
      return { from: start(month, day - 1), to: start(month, day) }
    case 'month':
      return { from: start(month), to: now }
    case 'lastMonth':
      return { from: start(month - 1), to: start(month) }
    case 'quarter':
      return { from: start(month - (month % 3)), to: now }
    default:
      return { from: start(month, day), to: now }
  }
}

/** Minimum length of one bar in days. */
const rollupDays = { hour: 1 / 24, day: 1, week: 7, month: 28 } as const

function daysOf(of: UsageRange, nowSeconds: number | undefined): number {
  const time = timeOf(of, nowSeconds)
  return time ? (time.to - time.from) / daySeconds : 0
}

/**
 * The bar sizes available for a range. A response has a limited number of bars, and the first bar may begin before the
 * range.
 */
export function rollupsOf(of: UsageRange, nowSeconds?: number): Rollup[] {
  const days = daysOf(of, nowSeconds)
  return shownRollups.filter((rollup) => rollup === 'month' || days / rollupDays[rollup] + 1 <= maxUsageBuckets)
}

/**
 * Returns the chosen bar size if it fits. Otherwise, it returns hours for ranges of up to two days and days for longer
 * ranges, or the next size that fits.
 */
export function rollupOf(of: UsageRange, wanted: Rollup | undefined, nowSeconds?: number): Rollup {
  const fitting = rollupsOf(of, nowSeconds)
  const usual = daysOf(of, nowSeconds) <= 2 ? 'hour' : 'day'
  return fitting.find((rollup) => rollup === (wanted ?? usual)) ?? fitting[0] ?? 'month'
}
