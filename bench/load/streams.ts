import { LoadConnection } from './connection.ts'
import { type Job, type LoadResult, MARK } from './job.ts'
import { requestBytes } from './request.ts'
import { sleep, Tally } from './tally.ts'

/** A stream counts as stalled after a silence of this many milliseconds: four times the mock's chunk interval. */
const STALL_MS = 2_000

/**
 * Opens one long stream per connection, spread over the warm-up, and checks that no stream falls silent or is cut off.
 */
export async function runStreams(job: Job, mark: (line: string) => void): Promise<LoadResult> {
  const request = requestBytes(job)
  const tally = new Tally()
  const gaps = { max: 0, stalls: 0 }
  const finished = { count: 0 }
  const stepMs = (job.warmupSeconds * 1000) / job.connections
  tally.start()
  const startedAt = performance.now()
  for (let index = 0; index < job.connections; index++) {
    const last = { at: 0 }
    const connection = new LoadConnection(job.port, request, true, (done, outcome) => {
      tally.add(outcome)
      finished.count++
      done.close()
    })
    connection.onBytes = () => {
      const now = performance.now()
      const gap = last.at === 0 ? 0 : now - last.at
      last.at = now
      gaps.max = Math.max(gaps.max, gap)
      if (gap > STALL_MS) gaps.stalls++
    }
    connection.send()
    const aheadMs = startedAt + stepMs * (index + 1) - performance.now()
    if (aheadMs > 1) await sleep(aheadMs)
  }
  mark(MARK.start)
  await sleep(job.seconds * 1000)
  mark(MARK.end)
  const deadline = performance.now() + 60_000
  while (finished.count < job.connections && performance.now() < deadline) await sleep(50)
  tally.stop()
  const never = job.connections - finished.count
  const failures = never > 0 ? [...tally.failures, `${never} streams never ended`] : [...tally.failures]
  return tally.result({
    requests: job.connections,
    failed: tally.failed + never,
    failures,
    maxGapMs: gaps.max,
    stalls: gaps.stalls,
  })
}
