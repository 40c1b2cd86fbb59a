/** The job of a load process, passed as JSON in its only argument. */
export interface Job {
  /**
   * closed: each connection sends its next request as soon as the previous one is answered. rate: sends at a fixed
   * rate, whether or not responses are outstanding. streams: one long stream per connection. stalled: reads the
   * beginning of each stream, then stops.
   */
  readonly mode: 'closed' | 'rate' | 'streams' | 'stalled'
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** API keys that the connections use in turn. They replace the key in `headers`. */
  readonly keys?: readonly string[]
  readonly model: string
  readonly stream: boolean
  /** Size of the request body in bytes. */
  readonly bodyBytes: number
  readonly connections: number
  /** Requests per second, in rate mode. */
  readonly rate?: number
  readonly warmupSeconds: number
  readonly seconds: number
}

/** Milliseconds. */
export interface Percentiles {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

/** The result of a job. */
export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  /** The number of responses that were incomplete or had a status other than 200. */
  readonly failed: number
  readonly failures: readonly string[]
  readonly latencyMs: Percentiles
  /** Time until the first byte of the body. */
  readonly firstByteMs: Percentiles
  /** In streams mode, the longest silence on any stream. */
  readonly maxGapMs: number
  /** In streams mode, the number of silences longer than four chunk intervals. */
  readonly stalls: number
  /** In stalled mode, the total number of bytes read before the readers stopped. */
  readonly bytes: number
}

/** Lines that a load process prints before its result. */
export const MARK = { start: 'measuring', end: 'measured' } as const

/** Percentiles of unsorted numbers; all zero if there are no numbers. */
export function percentiles(values: number[]): Percentiles {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}
