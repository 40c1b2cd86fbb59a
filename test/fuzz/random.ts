/** Repeatable random numbers: the same seed gives the same sequence. */
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  int(below: number): number
  pick<T>(list: readonly T[]): T
  /** True with the probability `share`. */
  chance(share: number): boolean
}

/** Mulberry32, which is small and good enough for this. */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (below: number) => Math.floor(next() * below)
  return {
    int,
    pick<T>(list: readonly T[]): T {
      if (list.length === 0) throw new Error('nothing to pick from')
      return list[int(list.length)] as T
    },
    chance: (share) => next() < share,
  }
}
