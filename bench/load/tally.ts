import type { Outcome } from './connection.ts'
import { type LoadResult, percentiles } from './job.ts'

/** Collects outcomes while the measurement runs. */
export class Tally {
  measuring = false
  requests = 0
  failed = 0
  readonly failures = new Set<string>()
  readonly #latency: number[] = []
  readonly #firstByte: number[] = []
  #startedAt = 0
  #seconds = 0

  start(): void {
    this.measuring = true
    this.#startedAt = performance.now()
  }

  stop(): void {
    this.measuring = false
    this.#seconds = (performance.now() - this.#startedAt) / 1000
  }

  add(outcome: Outcome): void {
    if (outcome.problem !== undefined && this.failures.size < 5) this.failures.add(outcome.problem)
    if (!this.measuring) return
    this.requests++
    if (outcome.problem !== undefined) this.failed++
    this.#latency.push(outcome.endAt - outcome.sentAt)
    this.#firstByte.push(outcome.firstByteAt - outcome.sentAt)
  }

  result(more: Partial<LoadResult> = {}): LoadResult {
    return {
      requests: this.requests,
      seconds: this.#seconds,
      failed: this.failed,
      failures: [...this.failures],
      latencyMs: percentiles(this.#latency),
      firstByteMs: percentiles(this.#firstByte),
      maxGapMs: 0,
      stalls: 0,
      bytes: 0,
      ...more,
    }
  }
}

/** Resolves after `ms` milliseconds. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
