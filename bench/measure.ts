import { join } from 'node:path'
import type { Case } from './cases.ts'
import type { DatabaseFigures } from './database.ts'
import { type Job, type LoadResult, MARK } from './load/job.ts'
import { cpuSeconds, residentMb, watchResident } from './proc.ts'
import { ROOT, start } from './processes.ts'
import type { Mock, Target } from './targets.ts'

/** What a request cost the PostgreSQL database. */
export interface DatabaseCost {
  /** CPU microseconds of the server per request; undefined if they cannot be read. */
  readonly cpuMicros: number | undefined
  /** Bytes of write-ahead log per request. */
  readonly walBytes: number
  /** Row updates per request in the tables that every call updates. The share `hotShare` needed no new index entry. */
  readonly updates: number
  readonly hotShare: number
  /** Size of these tables at the end, in MB. */
  readonly hotMb: number
}

/** One measurement: the figures of the load process, and the CPU time and memory that the programs used. */
export interface Measurement extends LoadResult {
  readonly case: string
  readonly target: Target['name']
  readonly perSecond: number
  /** CPU microseconds per request of the measured program, of the mock, and of the load tool. */
  readonly cpuMicros: number
  readonly mockCpuMicros: number
  readonly loadCpuMicros: number
  /** The share of one core that the measured program used. */
  readonly cpuShare: number
  /** Resident memory in MB: the highest value, and the value before the case. */
  readonly residentMb: number
  readonly residentBeforeMb: number
  /** Resident memory after the warm-up and at the end; the difference is growth under a steady load. */
  readonly residentStartMb: number
  readonly residentEndMb: number
  /** Undefined for a program without a PostgreSQL database. */
  readonly database: DatabaseCost | undefined
}

/** Runs the load of a case against a target, and returns the measurement. */
export async function measure(one: Case, target: Target, mock: Mock): Promise<Measurement> {
  const resident = () => (target.running ? residentMb(target.running.pid) : 0)
  const before = resident()
  const memory = target.running ? watchResident(target.running.pid) : undefined
  const load = start('load', join(ROOT, 'node_modules/.bin/bun'), [
    'bench/load/main.ts',
    JSON.stringify(jobOf(one, target)),
  ])
  const cpu = () =>
    [target.running?.pid, mock.running.pid, load.pid].map((pid) => (pid === undefined ? 0 : cpuSeconds(pid)))
  try {
    await load.line((line) => line === MARK.start, 120_000)
    const databaseBefore = await target.database?.figures()
    const from = cpu()
    const residentStartMb = resident()
    const startedAt = performance.now()
    await load.line((line) => line === MARK.end, 120_000)
    const used = cpu().map((seconds, index) => seconds - (from[index] ?? 0))
    const seconds = (performance.now() - startedAt) / 1000
    const residentEndMb = resident()
    const databaseAfter = await target.database?.figures()
    const result = JSON.parse(await load.line((line) => line.startsWith('{'), 120_000)) as LoadResult
    const perRequest = (index: number) => (result.requests > 0 ? ((used[index] ?? 0) * 1e6) / result.requests : 0)
    return {
      ...result,
      case: one.id,
      target: target.name,
      perSecond: result.requests / result.seconds,
      cpuMicros: perRequest(0),
      mockCpuMicros: perRequest(1),
      loadCpuMicros: perRequest(2),
      cpuShare: (used[0] ?? 0) / seconds,
      residentMb: memory?.stop() ?? 0,
      residentBeforeMb: before,
      residentStartMb,
      residentEndMb,
      database: databaseBefore && databaseAfter && costOf(databaseBefore, databaseAfter, Math.max(1, result.requests)),
    }
  } finally {
    memory?.stop()
    await load.stop()
  }
}

function costOf(before: DatabaseFigures, after: DatabaseFigures, requests: number): DatabaseCost {
  const cpu =
    before.cpuSeconds === undefined || after.cpuSeconds === undefined ? undefined : after.cpuSeconds - before.cpuSeconds
  const updates = after.updates - before.updates
  return {
    cpuMicros: cpu === undefined ? undefined : (cpu * 1e6) / requests,
    walBytes: (after.walBytes - before.walBytes) / requests,
    updates: updates / requests,
    hotShare: updates > 0 ? (after.hotUpdates - before.hotUpdates) / updates : 0,
    hotMb: after.hotBytes / 2 ** 20,
  }
}

function jobOf(one: Case, target: Target): Job {
  return {
    mode: one.mode,
    port: target.port,
    path: target.path,
    headers: target.headers(one.tls, one.translated === true),
    ...(one.accounts && target.keys && { keys: target.keys }),
    model: target.model(one.model, one.tls),
    stream: one.stream,
    bodyBytes: one.bodyBytes,
    connections: one.connections,
    ...(one.rate === undefined ? {} : { rate: one.rate }),
    warmupSeconds: one.warmupSeconds,
    seconds: one.seconds,
  }
}
