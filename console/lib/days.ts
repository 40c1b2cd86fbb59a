const hourSeconds = 3600
const daySeconds = 86_400

/**
 * Epoch seconds at which "the last n days" begin: n times 24 hours before the end of the current hour. Usage is summed
 * by the hour, so every page shows the same figures for the same range.
 */
export function sinceDays(days: number, nowSeconds = Date.now() / 1000): number {
  return Math.ceil(nowSeconds / hourSeconds) * hourSeconds - days * daySeconds
}
