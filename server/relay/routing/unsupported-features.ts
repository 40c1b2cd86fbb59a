/** A feature that a service does not support. */
export interface UnsupportedFeature {
  /** The feature: a dialect, or the usage report in the streams of a model. */
  what: string
  /** The service's message. */
  reason: string
  /** The feature is not requested before this time, in epoch milliseconds. */
  untilMs: number
}

/**
 * Remembers for a while which services do not support a dialect or stream usage, so that not every call tries the
 * feature.
 */
export interface UnsupportedFeatures {
  has(feature: string): boolean
  note(feature: string, reason: string): void
  /** The features that a channel's service does not support. */
  ofChannel(channelId: number): UnsupportedFeature[]
}

/** How long a missing feature is remembered. The time is limited, because a service may add support at any time. */
const rememberedMs = 600_000
const mostFeatures = 10_000
const longestReason = 300

/** A `feature` consists of the channel's id, its URL and the name of the feature, separated by spaces. */
export function createUnsupportedFeatures(nowMs: () => number): UnsupportedFeatures {
  const features = new Map<string, Omit<UnsupportedFeature, 'what'>>()
  return {
    has: (feature) => (features.get(feature)?.untilMs ?? 0) > nowMs(),
    note(feature, reason) {
      if (features.size >= mostFeatures) features.clear()
      features.set(feature, { reason: reason.slice(0, longestReason), untilMs: nowMs() + rememberedMs })
    },
    ofChannel(channelId) {
      const now = nowMs()
      return [...features].flatMap(([feature, known]) =>
        feature.startsWith(`${channelId} `) && known.untilMs > now
          ? [{ what: feature.split(' ').slice(2).join(' '), ...known }]
          : [],
      )
    },
  }
}
