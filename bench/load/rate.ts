import { LoadConnection } from './connection.ts'
import { type Job, type LoadResult, MARK } from './job.ts'
import { requestBytes } from './request.ts'
import { sleep, Tally } from './tally.ts'

/**
 * Sends requests at a fixed rate, regardless of the responses. Latency is measured from the time when a request was
 * due.
 */
export async function runRate(job: Job, mark: (line: string) => void): Promise<LoadResult> {
  const request = requestBytes(job)
  const tally = new Tally()
  const idle: LoadConnection[] = []
  const due: number[] = []
  const state = { running: true, opened: 0, sent: 0 }
  const take = () => {
    const connection = idle.pop()
    if (connection || state.opened >= job.connections) return connection
    state.opened++
    return new LoadConnection(job.port, request, job.stream, (done, outcome) => {
      tally.add(outcome)
      const next = due.shift()
      if (next === undefined) idle.push(done)
      else done.send(next)
    })
  }
  const perMs = (job.rate ?? 100) / 1000
  const startedAt = performance.now()
  const timer = setInterval(() => {
    while (state.running && state.sent < (performance.now() - startedAt) * perMs) {
      const at = startedAt + state.sent / perMs
      state.sent++
      const connection = take()
      if (connection) connection.send(at)
      else due.push(at)
    }
  }, 1)
  await sleep(job.warmupSeconds * 1000)
  mark(MARK.start)
  tally.start()
  await sleep(job.seconds * 1000)
  tally.stop()
  mark(MARK.end)
  state.running = false
  clearInterval(timer)
  const unserved = due.length
  return tally.result(
    unserved > 0
      ? {
          failed: tally.failed + unserved,
          failures: [...tally.failures, `${unserved} requests could not be sent in time`],
        }
      : {},
  )
}
