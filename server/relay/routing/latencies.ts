/** Records how long channels have recently taken to begin a response. Each node uses only its own measurements. */
export interface Latencies {
  note(what: Measured, ms: number): void
  /**
   * The median time until a response began, over the responses of the last five minutes, in milliseconds; undefined =
   * there were no responses.
   */
  median(what: Measured): number | undefined
}

/** Streams and complete responses begin at different times, so each kind is compared only with itself. */
export interface Measured {
  readonly channelId: number
  readonly model: string
  readonly isStream: boolean
}

const keptMs = 300_000
const mostSamples = 64
/** A computed median is reused for this long, so that it need not be computed for every call. */
const freshMs = 1_000
/**
 * The maximum number of series. There are usually far fewer. Arbitrary model names are accepted only from admins who
 * select the channel of their request.
 */
const mostSeries = 10_000

interface Series {
  samples: { atMs: number; ms: number }[]
  next: number
  median: number | undefined
  medianAtMs: number
}

export function createLatencies(nowMs: () => number): Latencies {
  const all = new Map<string, Series>()
  const keyOf = ({ channelId, model, isStream }: Measured) => `${channelId} ${isStream} ${model}`
  return {
    note(what, ms) {
      const key = keyOf(what)
      let series = all.get(key)
      if (!series) {
        if (all.size >= mostSeries) all.clear()
        series = { samples: [], next: 0, median: undefined, medianAtMs: Number.NEGATIVE_INFINITY }
        all.set(key, series)
      }
      series.samples[series.next] = { atMs: nowMs(), ms }
      series.next = (series.next + 1) % mostSamples
      // As long as there is no median, the next call of `median` computes it, so that the channel can be compared with
      // others after its first sample.
      if (series.median === undefined) series.medianAtMs = Number.NEGATIVE_INFINITY
    },
    median(what) {
      const series = all.get(keyOf(what))
      if (!series) return undefined
      const now = nowMs()
      if (now - series.medianAtMs < freshMs) return series.median
      const times = series.samples.filter(({ atMs }) => now - atMs < keptMs).map(({ ms }) => ms)
      times.sort((a, b) => a - b)
      series.median = times[Math.floor((times.length - 1) / 2)]
      series.medianAtMs = now
      return series.median
    },
  }
}
