/** Remembers for a while what services do not offer, dialects and the usage of streams, so that each call need not find out. */
export interface MissingPlaces {
  has(place: string): boolean
  note(place: string): void
}

/** A service may learn it any day. */
const rememberedMs = 600_000
const mostPlaces = 10_000

export function createMissingPlaces(nowMs: () => number): MissingPlaces {
  const untilMs = new Map<string, number>()
  return {
    has: (place) => (untilMs.get(place) ?? 0) > nowMs(),
    note(place) {
      if (untilMs.size >= mostPlaces) untilMs.clear()
      untilMs.set(place, nowMs() + rememberedMs)
    },
  }
}
