import { type CapWindow, capSteps } from '../../../contract/caps.ts'
import { startOfDay, type TimeZone, timeZone } from '../../lib/time-zone.ts'
import { utcPeriods } from '../../lib/utc.ts'

/**
 * A moving window (a minute, an hour or five hours) consists of 60 complete steps and the current, incomplete step. It
 * therefore always covers at least its full length.
 */
export const stepsKept = 61
const daySeconds = 86_400

/** The fields of a cap from which its current window is calculated. */
export interface CapPeriod {
  period: CapWindow
  zone: string
}

const zones = new Map<string, TimeZone | undefined>()

function zoneOf(name: string): TimeZone | undefined {
  if (name === 'UTC') return undefined
  if (!zones.has(name)) zones.set(name, timeZone(name))
  return zones.get(name)
}

/**
 * The start of the window that contains the time `at`. For a moving window, the start of the step that contains it. All
 * times are epoch seconds.
 */
export function windowStart({ period, zone }: CapPeriod, at: number): number {
  const step = capSteps[period]
  if (step !== undefined) return at - (at % step)
  if (period === 'ever' || period === 'now') return 0
  return calendar(period, zone, at, 0)
}

/**
 * The end of the window that contains the time `at`; 0 if the window never ends. For a moving window, the time at which
 * the window no longer includes the step that contains `at`.
 */
export function windowEnd({ period, zone }: CapPeriod, at: number): number {
  const step = capSteps[period]
  if (step !== undefined) return at - (at % step) + stepsKept * step
  if (period === 'ever' || period === 'now') return 0
  return calendar(period, zone, at, 1)
}

/**
 * The start of the day, week or month that contains the time `at`. With `offset` 1, the start of the next day, week or
 * month. Weeks begin on Monday.
 */
function calendar(period: 'day' | 'week' | 'month' | CapWindow, name: string, at: number, offset: 0 | 1): number {
  const zone = zoneOf(name)
  if (!zone && period === 'day') return utcPeriods(at).dayStart + offset * daySeconds
  const local = new Date((at + (zone?.offsetAt(at) ?? 0) * 60) * 1000)
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()]
  const weekday = (local.getUTCDay() + 6) % 7
  const first =
    period === 'month'
      ? [year, month + offset, 1]
      : period === 'week'
        ? [year, month, day - weekday + 7 * offset]
        : [year, month, day + offset]
  const [y = 0, m = 0, d = 0] = first
  return zone ? startOfDay(zone, y, m + 1, d) : Date.UTC(y, m, d) / 1000
}
