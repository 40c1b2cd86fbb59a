const daySeconds = 86_400

/** The calendar periods around a time, in UTC. All values are in epoch seconds. */
export interface UtcPeriods {
  dayStart: number
  nextDay: number
  monthStart: number
  nextMonth: number
}

/** The UTC day and month that contain a point in time (epoch seconds). */
export function utcPeriods(seconds: number): UtcPeriods {
  const dayStart = Math.floor(seconds / daySeconds) * daySeconds
  const date = new Date(seconds * 1000)
  const monthAt = (offset: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset) / 1000
  return { dayStart, nextDay: dayStart + daySeconds, monthStart: monthAt(0), nextMonth: monthAt(1) }
}
