import type { UsageRollup } from '../../../contract/api/usage.ts'
import { offsetPieces, startOfDay, type TimeZone } from '../../lib/time-zone.ts'

/**
 * A part of a range in which the UTC offset of the reader's time zone is constant. `from` and `to` are in hours since
 * 1970.
 */
export interface BucketPart {
  from: number
  to: number
  /** The buckets of the database query: hours, or days of the reader's time zone. */
  unit: { minutes: number; shift: number }
}

/** How a range is divided into buckets. `indexOf` maps a bucket number of the database to a bucket of the response. */
export interface BucketPlan {
  parts: BucketPart[]
  /** Epoch seconds at which each bucket begins. */
  starts: number[]
  indexOf(bucket: number): number
}

const hourSeconds = 3600
const minutesOf = { hour: 60, day: 1440 } as const
const dayMs = 86_400_000
/**
 * Days that are added before the database divides a time by the bucket size. The time is then positive, so the division
 * rounds down.
 */
const shiftDays = 1

/** Divides whole hours since 1970 into buckets. `zone` determines when the reader's day begins. */
export function planBuckets(range: { from: number; to: number }, rollup: UsageRollup, zone: TimeZone): BucketPlan {
  if (rollup === 'hour') {
    const count = Math.max(0, range.to - range.from)
    return {
      parts: [{ ...range, unit: { minutes: minutesOf.hour, shift: 0 } }],
      starts: Array.from({ length: count }, (_, index) => (range.from + index) * hourSeconds),
      indexOf: (hour) => hour - range.from,
    }
  }
  const pieces = offsetPieces(zone, range.from * hourSeconds, range.to * hourSeconds)
  const dayOf = (hour: number) => {
    const offset = pieces.findLast(({ from }) => from <= hour)?.offset ?? 0
    return Math.floor((hour * minutesOf.hour + offset) / minutesOf.day)
  }
  const [first, last] = [dayOf(range.from), dayOf(range.to - 1)]
  const indexes = new Map<number, number>()
  const starts: number[] = []
  let current: number | undefined
  for (let day = first; day <= last; day++) {
    const begins = firstDayOf(day, rollup)
    if (begins !== current) starts.push(startOf(begins, zone))
    current = begins
    indexes.set(day, starts.length - 1)
  }
  return {
    parts: pieces.map(({ from, offset }, index) => ({
      from,
      to: pieces[index + 1]?.from ?? range.to,
      unit: { minutes: minutesOf.day, shift: offset + shiftDays * minutesOf.day },
    })),
    starts,
    indexOf: (bucket) => indexes.get(bucket - shiftDays) ?? -1,
  }
}

/** The first day, counted from 1970, of the bucket that contains a day. */
function firstDayOf(day: number, rollup: 'day' | 'week' | 'month'): number {
  if (rollup === 'day') return day
  const date = new Date(day * dayMs)
  // Weeks begin on Monday.
  if (rollup === 'week') return day - ((date.getUTCDay() + 6) % 7)
  return day - (date.getUTCDate() - 1)
}

function startOf(day: number, zone: TimeZone): number {
  const date = new Date(day * dayMs)
  return startOfDay(zone, date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
}
