const hourSeconds = 3600
const daySeconds = 86_400

/**
 * Epoch seconds at which "the last 7 days", or any number of days, begin: so many times 24 hours before the end of the
 * running hour. Usage is summed by the hour, so that every page gets the same figures for the same words.
 */
export function sinceDays(days: number, nowSeconds = Date.now() / 1000): number {
  return Math.ceil(nowSeconds / hourSeconds) * hourSeconds - days * daySeconds
}
