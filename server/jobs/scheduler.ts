/** Work that is repeated while the process is alive. */
export interface Job {
  name: string
  everyMs: number
  run(): Promise<unknown>
  /** What to do when the process ends, after the last run. */
  end?(): Promise<unknown>
}

/**
 * Starts the jobs. If a job is still running when it is due again, that run is skipped. A failure is reported and does
 * not stop the job. Returns the function that stops all jobs.
 */
export function startJobs(jobs: readonly Job[], warn: (message: string) => void): () => Promise<void> {
  const timers = jobs.map((job) => {
    let running = false
    const timer = setInterval(() => {
      if (running) return
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
