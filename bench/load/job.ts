/** The job of a load process, as JSON in its only argument. */
export interface Job {
  /**
   * closed: each connection sends again at once. rate: sends at a fixed rate, whether or not answers are outstanding.
   * streams: one long stream each. stalled: reads a little, then stops.
   */
  readonly mode: 'closed' | 'rate' | 'streams' | 'stalled'
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
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
  /** Answers that were not 200, incomplete, or cut off. */
  readonly failed: number
  readonly failures: readonly string[]
  readonly latencyMs: Percentiles
  /** Until the first byte of the body. */
  readonly firstByteMs: Percentiles
  /** streams: the longest silence on any stream. */
  readonly maxGapMs: number
  /** streams: silences longer than four chunk intervals. */
  readonly stalls: number
  /** stalled: total bytes read before the readers stopped. */
  readonly bytes: number
}

/** Lines that a load process prints before its result. */
export const MARK = { start: 'measuring', end: 'measured' } as const

/** Percentiles of unsorted numbers; zeros for none. */
export function percentiles(values: number[]): Percentiles {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}
