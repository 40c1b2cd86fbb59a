import type { UsageRollup } from '../../../contract/api/usage.ts'

/** How a range is divided, and to which bucket of the response each bucket of the database belongs. */
export interface BucketPlan {
  /** The unit of the database query: hours, or days of the reader's time zone. */
  unit: { minutes: number; shift: number }
  /** Epoch seconds at which each bucket begins. */
  starts: number[]
  indexOf(bucket: number): number
}

const minutesOf = { hour: 60, day: 1440 } as const
const daySeconds = 86_400
/** Added so that the dividend in the database stays above zero and the division rounds down. */
const shiftDays = 1

/** Divides whole hours since 1970 into buckets; `utcOffset` (minutes) determines where the reader's day begins. */
export function planBuckets(range: { from: number; to: number }, rollup: UsageRollup, utcOffset: number): BucketPlan {
  if (rollup === 'hour') {
    const count = Math.max(0, range.to - range.from)
    return {
      unit: { minutes: minutesOf.hour, shift: 0 },
      starts: Array.from({ length: count }, (_, index) => (range.from + index) * 3600),
      indexOf: (hour) => hour - range.from,
    }
  }
  const dayOf = (hour: number) => Math.floor((hour * minutesOf.hour + utcOffset) / minutesOf.day)
  const [first, last] = [dayOf(range.from), dayOf(range.to - 1)]
  const indexes = new Map<number, number>()
  const starts: number[] = []
  for (let day = first; day <= last; day++) {
    const start = firstDayOf(day, rollup) * daySeconds - utcOffset * 60
    if (starts.at(-1) !== start) starts.push(start)
    indexes.set(day, starts.length - 1)
  }
  return {
    unit: { minutes: minutesOf.day, shift: utcOffset + shiftDays * minutesOf.day },
    starts,
    indexOf: (bucket) => indexes.get(bucket - shiftDays) ?? -1,
  }
}

/** The first day, counted from 1970, of the bucket that contains a day. */
function firstDayOf(day: number, rollup: 'day' | 'week' | 'month'): number {
  if (rollup === 'day') return day
  const date = new Date(day * daySeconds * 1000)
  // Weeks begin on Monday.
  if (rollup === 'week') return day - ((date.getUTCDay() + 6) % 7)
  return day - (date.getUTCDate() - 1)
}
