import { sql } from 'kysely'

const smallestMs = 20
const growth = 1.15
const stepCount = 64

/** The upper bounds of the steps in a histogram of first byte times, in milliseconds. */
const bounds = Array.from({ length: stepCount }, (_, step) => Math.round(smallestMs * growth ** step))

/** The SQL expression for the step of a log row `l`. Times above the last bound are in an additional last step. */
export const firstByteStep = sql.raw(
  `case ${bounds.map((bound, step) => `when l.first_byte_time <= ${bound} then ${step}`).join(' ')} else ${stepCount} end`,
)

/**
 * The percentile `share` (0 to 1) of the first byte times, in milliseconds; null if there are no responses. It is
 * interpolated within its step, and accurate to about 15 %.
 */
export function firstByteOf(counts: ReadonlyMap<number, number>, share: number): number | null {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = share * total
  for (const [step, count] of [...counts].sort(([a], [b]) => a - b)) {
    const from = step === 0 ? 0 : (bounds[step - 1] ?? 0)
    const to = bounds[step] ?? from
    if (left <= count) return Math.round(from + ((to - from) * left) / count)
    left -= count
  }
  return bounds.at(-1) ?? null
}
