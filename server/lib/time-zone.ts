/** A time zone by its IANA name, such as Europe/Berlin. */
export interface TimeZone {
  name: string
  /** The offset in minutes east of UTC, at a time in epoch seconds. */
  offsetAt(seconds: number): number
}

const hourSeconds = 3600
const weekSeconds = 7 * 86_400

/** The time zone with a name. Undefined if there is no such zone. */
export function timeZone(name: string): TimeZone | undefined {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
  return {
    name: format.resolvedOptions().timeZone,
    offsetAt(seconds) {
      const parts = new Map(format.formatToParts(seconds * 1000).map(({ type, value }) => [type, Number(value)]))
      const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
      const local = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
      return Math.round((local / 1000 - seconds) / 60)
    },
  }
}

/** A zone with a constant offset, in minutes east of UTC. */
export function fixedZone(offset: number): TimeZone {
  return { name: 'UTC', offsetAt: () => offset }
}

/**
 * Splits a time range into pieces in which the zone's offset stays the same. `from` is the start of a piece, in whole
 * hours since 1970. `start` and `end` are epoch seconds.
 */
export function offsetPieces({ offsetAt }: TimeZone, start: number, end: number): { from: number; offset: number }[] {
  const pieces = [{ from: Math.floor(start / hourSeconds), offset: offsetAt(start) }]
  for (let at = start; at < end; at += weekSeconds) {
    const next = Math.min(end, at + weekSeconds)
    const offset = offsetAt(at)
    if (offsetAt(next) === offset) continue
    // No zone changes its offset twice in a week.
    let [low, high] = [Math.floor(at / hourSeconds), Math.ceil(next / hourSeconds)]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (offsetAt(middle * hourSeconds) === offset) low = middle
      else high = middle
    }
    pieces.push({ from: high, offset: offsetAt(high * hourSeconds) })
  }
  return pieces
}

/**
 * The first second of a day in the zone. `month` begins at 1. Days beyond the end of the month are days of the next
 * month.
 */
export function startOfDay({ offsetAt }: TimeZone, year: number, month: number, day: number): number {
  const local = Date.UTC(year, month - 1, day) / 1000
  const near = local - offsetAt(local) * 60
  return local - offsetAt(near) * 60
}

/** A time in epoch seconds as a day of the zone, YYYY-MM-DD. */
export function dayOf({ offsetAt }: TimeZone, seconds: number): string {
  return new Date((seconds + offsetAt(seconds) * 60) * 1000).toISOString().slice(0, 10)
}
