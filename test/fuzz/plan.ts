import type { Random } from './random.ts'

/** The seed of a run that executes only a tenth of each sweep. Undefined in complete runs. */
const sweepSeed = process.env.SWEEP_SEED

/**
 * How many invalid requests a run sends to the management API with each database. In addition, it sends a quarter as
 * many to the relay.
 */
export const fuzzRequests = Number(process.env.FUZZ_REQUESTS ?? (sweepSeed === undefined ? 1_000 : 100))

/** The seed of a run's random numbers. Runs with the same seed send the same requests. */
export const fuzzSeed = Number(process.env.FUZZ_SEED ?? sweepSeed ?? 1)

/** Prints which statuses were returned, if the length of the run was set explicitly. */
export function tell(what: string, statuses: ReadonlyMap<number, number>): void {
  if (process.env.FUZZ_REQUESTS === undefined) return
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`)
  console.log(`${what} (seed ${fuzzSeed}): ${counts.join(', ')}`)
}

/**
 * Yields all elements in random order, and then again in another order, so that a run that is long enough includes
 * every element.
 */
export function* inTurn<T>(all: readonly T[], random: Random): Generator<T, never> {
  for (;;) {
    const round = [...all]
    while (round.length > 0) yield* round.splice(random.int(round.length), 1)
  }
}
