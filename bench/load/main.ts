import { runClosed } from './closed.ts'
import type { Job, LoadResult } from './job.ts'
import { runRate } from './rate.ts'
import { runStalled } from './stalled.ts'
import { runStreams } from './streams.ts'

/**
 * A load process: it does one job, prints a line when the measurement starts and when it ends, and then prints the
 * result.
 */
const RUNNERS: Readonly<Record<Job['mode'], (job: Job, mark: (line: string) => void) => Promise<LoadResult>>> = {
  closed: runClosed,
  rate: runRate,
  streams: runStreams,
  stalled: runStalled,
}

const job = JSON.parse(process.argv[2] ?? '') as Job
const result = await RUNNERS[job.mode](job, (line) => process.stdout.write(`${line}\n`))
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0))
