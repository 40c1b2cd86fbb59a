import type { Random } from './random.ts'

/** Set where only a tenth of each sweep is run. */
const sweepSeed = process.env.SWEEP_SEED

/** How many wrong management calls a run sends to each database; a quarter as many relay calls come on top. */
export const fuzzRequests = Number(process.env.FUZZ_REQUESTS ?? (sweepSeed === undefined ? 1_000 : 100))

/** Where the chance of a run begins; the same number sends the same requests. */
export const fuzzSeed = Number(process.env.FUZZ_SEED ?? sweepSeed ?? 1)

/** Says what came back, where somebody asked for a run of a certain length. */
export function tell(what: string, statuses: ReadonlyMap<number, number>): void {
  if (process.env.FUZZ_REQUESTS === undefined) return
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`)
  console.log(`${what} (seed ${fuzzSeed}): ${counts.join(', ')}`)
}

/** All of them in an order of chance, and again in another, so that a run long enough leaves none out. */
export function* inTurn<T>(all: readonly T[], random: Random): Generator<T, never> {
  for (;;) {
    const round = [...all]
    while (round.length > 0) yield* round.splice(random.int(round.length), 1)
  }
}
