/** Something that a service turned out not to support. */
export interface MissingPlace {
  /** What is missing: support for a dialect, or for the usage of a model's streams. */
  what: string
  /** The service's message. */
  reason: string
  /** Until when the missing feature is not requested, in milliseconds of the clock. */
  untilMs: number
}

/**
 * Remembers for a while which services do not support a dialect or stream usage, so that not every call has to find
 * out.
 */
export interface UnsupportedFeatures {
  has(place: string): boolean
  note(place: string, reason: string): void
  /** The features that a channel's service does not support. */
  ofChannel(channelId: number): MissingPlace[]
}

/** How long a missing feature is remembered. The time is limited, because a service may add support at any time. */
const rememberedMs = 600_000
const mostPlaces = 10_000
const longestReason = 300

/** A `place` consists of the channel's number, its URL and what is missing, separated by spaces. */
export function createUnsupportedFeatures(nowMs: () => number): UnsupportedFeatures {
  const places = new Map<string, Omit<MissingPlace, 'what'>>()
  return {
    has: (place) => (places.get(place)?.untilMs ?? 0) > nowMs(),
    note(place, reason) {
      if (places.size >= mostPlaces) places.clear()
      places.set(place, { reason: reason.slice(0, longestReason), untilMs: nowMs() + rememberedMs })
    },
    ofChannel(channelId) {
      const now = nowMs()
      return [...places].flatMap(([place, known]) =>
        place.startsWith(`${channelId} `) && known.untilMs > now
          ? [{ what: place.split(' ').slice(2).join(' '), ...known }]
          : [],
      )
    },
  }
}
