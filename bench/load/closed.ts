import { LoadConnection } from './connection.ts'
import { type Job, type LoadResult, MARK } from './job.ts'
import { requestBytes } from './request.ts'
import { sleep, Tally } from './tally.ts'

/** Saturates the target: each connection sends its next request as soon as the previous one is answered. */
export async function runClosed(job: Job, mark: (line: string) => void): Promise<LoadResult> {
  const tally = new Tally()
  const state = { running: true }
  const connections = Array.from({ length: job.connections }, (_, index) => {
    return new LoadConnection(job.port, requestBytes(job, index), job.stream, (connection, outcome) => {
      tally.add(outcome)
      if (!state.running) return
      if (outcome.problem === undefined) connection.send()
      else setTimeout(() => connection.send(), 20)
    })
  })
  for (const connection of connections) connection.send()
  await sleep(job.warmupSeconds * 1000)
  mark(MARK.start)
  tally.start()
  await sleep(job.seconds * 1000)
  tally.stop()
  mark(MARK.end)
  state.running = false
  for (const connection of connections) connection.close()
  return tally.result()
}
