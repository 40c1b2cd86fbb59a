import { connect, type Socket } from 'node:net'
import { type Job, type LoadResult, MARK } from './job.ts'
import { requestBytes } from './request.ts'
import { sleep, Tally } from './tally.ts'

/** Requests endless streams, reads the beginning of each, and then stops reading without closing. */
export async function runStalled(job: Job, mark: (line: string) => void): Promise<LoadResult> {
  const request = requestBytes(job)
  const read = { bytes: 0, lost: 0, good: 0 }
  const sockets: Socket[] = []
  for (let index = 0; index < job.connections; index++) {
    const socket = connect(job.port, '127.0.0.1', () => socket.write(request))
    socket.once('data', (bytes: Buffer) => {
      read.bytes += bytes.length
      if (bytes.toString('latin1', 0, 12).endsWith('200')) read.good++
      socket.pause()
    })
    socket.on('error', () => read.lost++)
    sockets.push(socket)
  }
  await sleep(job.warmupSeconds * 1000)
  mark(MARK.start)
  await sleep(job.seconds * 1000)
  mark(MARK.end)
  for (const socket of sockets) socket.destroy()
  const failed = job.connections - read.good
  const failures = failed > 0 ? [`${failed} readers got no stream`] : []
  return new Tally().result({ requests: job.connections, seconds: job.seconds, failed, failures, bytes: read.bytes })
}
