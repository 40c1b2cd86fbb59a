/** Something that a service was found not to offer. */
export interface MissingPlace {
  /** What is missing: a dialect, or the usage of a model's streams. */
  what: string
  /** What the service said. */
  reason: string
  /** Until when it is not asked for, in milliseconds of the clock. */
  untilMs: number
}

/** Remembers for a while what services do not offer, dialects and the usage of streams, so that each call need not find out. */
export interface UnsupportedFeatures {
  has(place: string): boolean
  note(place: string, reason: string): void
  /** What is missing at a channel. */
  ofChannel(channelId: number): MissingPlace[]
}

/** A service may learn it any day. */
const rememberedMs = 600_000
const mostPlaces = 10_000
const longestReason = 300

/** A place is named by the number of its channel, its address and what is missing, with blanks between. */
export function createUnsupportedFeatures(nowMs: () => number): UnsupportedFeatures {
  const found = new Map<string, Omit<MissingPlace, 'what'>>()
  return {
    has: (place) => (found.get(place)?.untilMs ?? 0) > nowMs(),
    note(place, reason) {
      if (found.size >= mostPlaces) found.clear()
      found.set(place, { reason: reason.slice(0, longestReason), untilMs: nowMs() + rememberedMs })
    },
    ofChannel(channelId) {
      const now = nowMs()
      return [...found].flatMap(([place, known]) =>
        place.startsWith(`${channelId} `) && known.untilMs > now
          ? [{ what: place.split(' ').slice(2).join(' '), ...known }]
          : [],
      )
    },
  }
}
