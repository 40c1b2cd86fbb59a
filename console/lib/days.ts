const hourSeconds = 3600
const daySeconds = 86_400

/**
 * The start of "the last n days" in epoch seconds: n times 24 hours before the end of the current hour. Because usage
 * is summed by the hour, every page then shows the same figures for the same range.
 */
export function sinceDays(days: number, nowSeconds = Date.now() / 1000): number {
  return Math.ceil(nowSeconds / hourSeconds) * hourSeconds - days * daySeconds
}
