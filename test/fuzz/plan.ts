import type { Random } from './random.ts'

/** Set in runs that execute only a tenth of each sweep. */
const sweepSeed = process.env.SWEEP_SEED

/** How many wrong management calls a run sends to each database. A quarter as many relay calls are sent in addition. */
export const fuzzRequests = Number(process.env.FUZZ_REQUESTS ?? (sweepSeed === undefined ? 1_000 : 100))

/** The seed of a run's random numbers. The same seed sends the same requests. */
export const fuzzSeed = Number(process.env.FUZZ_SEED ?? sweepSeed ?? 1)

/** Prints which statuses were returned, if somebody asked for a run of a certain length. */
export function tell(what: string, statuses: ReadonlyMap<number, number>): void {
  if (process.env.FUZZ_REQUESTS === undefined) return
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`)
  console.log(`${what} (seed ${fuzzSeed}): ${counts.join(', ')}`)
}

/** Yields all elements in random order, and then again in another order, so that a long enough run omits none. */
export function* inTurn<T>(all: readonly T[], random: Random): Generator<T, never> {
  for (;;) {
    const round = [...all]
    while (round.length > 0) yield* round.splice(random.int(round.length), 1)
  }
}
