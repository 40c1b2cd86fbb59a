/** Work that is repeated while the process is alive. */
export interface Job {
  name: string
  everyMs: number
  run(): Promise<unknown>
  /** Runs when the process ends, after the last run of the job. */
  end?(): Promise<unknown>
  /** While this returns true, there is probably nothing to do, so the job runs only once a minute. */
  isQuiet?(): boolean
}

const quietEveryMs = 60_000

/**
 * Starts the jobs. If a job is still running when its next run is due, the next run is skipped. A failure is reported
 * and does not stop the job. Returns a function that stops all jobs.
 */
export function startJobs(jobs: readonly Job[], warn: (message: string) => void): () => Promise<void> {
  const timers = jobs.map((job) => {
    let running = false
    let skippedMs = 0
    const timer = setInterval(() => {
      if (running) return
      skippedMs += job.everyMs
      if (skippedMs < quietEveryMs && job.isQuiet?.()) return
      skippedMs = 0
      running = true
      job
        .run()
        .catch((error: unknown) => warn(`job ${job.name} failed: ${String(error)}`))
        .finally(() => {
          running = false
        })
    }, job.everyMs)
    timer.unref()
    return timer
  })
  return async () => {
    for (const timer of timers) clearInterval(timer)
    await Promise.all(jobs.map((job) => job.end?.().catch((error) => warn(`job ${job.name} failed: ${String(error)}`))))
  }
}

/** A job counts as quiet after this time without activity. */
const quietAfterMs = 60_000

/**
 * Returns a function that is true if this count has not changed for a minute. The function must be called regularly.
 */
export function unchanged(count: () => number): () => boolean {
  let known = count()
  let sinceMs = performance.now()
  return () => {
    const value = count()
    const nowMs = performance.now()
    if (value !== known) sinceMs = nowMs
    known = value
    return nowMs - sinceMs >= quietAfterMs
  }
}
