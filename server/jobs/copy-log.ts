import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { LogSinkAddress } from '../lib/log-sink-address.ts'
import type { Metrics } from '../metrics.ts'
import { createClickHouse } from '../outbound/clickhouse.ts'
import { createJsonLinesFolder } from '../outbound/json-lines-folder.ts'
import type { LogSink, SinkRow } from '../outbound/log-sink.ts'
import type { LogRow } from '../store/logs/log-pages.ts'
import {
  advanceSink,
  failSink,
  holdSink,
  type LogSinkState,
  releaseSink,
  sinkBacklog,
  unsentRows,
} from '../store/logs/log-sinks.ts'
import type { Store } from '../store/store.ts'
import { decidedLogId } from '../store/usage/usage-rollup.ts'
import type { Job } from './scheduler.ts'

export interface CopyLogDeps {
  store: Store
  nodeId: string
  clock: Clock
  logSink: LogSinkAddress | undefined
  logSinkMonths: number
  metrics: Pick<Metrics, 'logCopied'>
  warn(message: string): void
}

const everyMs = 5_000
/** How long a process that copies has the right to do so after its last step. It exceeds the time limit of a step. */
const holdSeconds = 120
/** Other work has its turn between two steps. SQLite blocks the process while it reads. */
const rowsPerStep = { sqlite: 500, postgres: 5000 }
const stepsPerRun = 100
const longestRestSeconds = 60
const forgetSeconds = 3600
const monthSeconds = 31 * 86_400

/** Copies new log rows to the sink every few seconds, on one node. Calls never wait for it. */
export function copyLogJobs(deps: CopyLogDeps): Job[] {
  return deps.logSink === undefined ? [] : [copyLogJob({ ...deps, address: deps.logSink })]
}

interface Copying extends CopyLogDeps {
  address: LogSinkAddress
}

function copyLogJob(deps: Copying): Job {
  const { store, nodeId, clock, address, logSinkMonths: months } = deps
  const sink = openSink(address, () => clock.nowMs())
  let failures = 0
  let restUntil = 0
  let forgottenAt = 0
  let lostBefore: number | undefined
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<void> {
    const now = epochSeconds(clock)
    if (now < restUntil) return
    const state = await holdSink(store, { name: address.name, holder: nodeId, now, until: now + holdSeconds })
    if (!state) return
    if (state.lost_rows > (lostBefore ?? 0) && lostBefore !== undefined)
      deps.warn(
        `${state.lost_rows - lostBefore} log rows were deleted before they were copied to ${address.name}: the copy has a gap`,
      )
    lostBefore = state.lost_rows
    try {
      const sent = await copy(deps, sink, state)
      if (failures > 0) deps.warn(`log rows are copied to ${address.name} again`)
      failures = 0
      await measure(deps, sent, false)
      if (months > 0 && now - forgottenAt >= forgetSeconds) {
        forgottenAt = now
        await sink.forget(now - months * monthSeconds)
      }
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      if (failures === 0) deps.warn(`log rows cannot be copied to ${address.name}, and wait: ${text}`)
      failures++
      restUntil = now + Math.min(longestRestSeconds, 5 * 2 ** Math.min(failures, 5))
      await failSink(store, address.name, text, now)
      await measure(deps, state, true)
    }
  }

  return {
    name: 'copy-log',
    everyMs,
    run() {
      running = run()
      return running
    },
    async end() {
      await running.catch(() => undefined)
      await releaseSink(store, address.name, nodeId)
    },
  }
}

/** Opens a sink by its address. */
function openSink(address: LogSinkAddress, nowMs: () => number): LogSink {
  return address.kind === 'clickhouse' ? createClickHouse(address) : createJsonLinesFolder(address.folder, nowMs)
}

/** Copies until nothing is left, or long enough. Returns the state afterwards. */
async function copy(
  { store, nodeId, clock, address }: Copying,
  sink: LogSink,
  state: LogSinkState,
): Promise<LogSinkState> {
  let { sent_to, sent_rows } = state
  // Rows that may still appear before others are awaited.
  const upTo = (await decidedLogId(store)) ?? 0
  for (let step = 0; step < stepsPerRun; step++) {
    const rows = await unsentRows(store, { after: sent_to, upTo, limit: rowsPerStep[store.dialect] })
    const to = rows.at(-1)?.id
    if (to === undefined) break
    await sink.send(rows.map(sinkRow))
    const now = epochSeconds(clock)
    const moved = { name: address.name, holder: nodeId, to, rows: rows.length, now, until: now + holdSeconds }
    if (!(await advanceSink(store, moved))) break
    sent_to = to
    sent_rows += rows.length
    if (rows.length < rowsPerStep[store.dialect]) break
  }
  return { ...state, sent_to, sent_rows }
}

async function measure({ store, metrics }: Copying, state: LogSinkState, failing: boolean): Promise<void> {
  const waiting = await sinkBacklog(store.read, state)
  metrics.logCopied({ waiting, sent: state.sent_rows, lost: state.lost_rows, failing })
}

function sinkRow(row: LogRow): SinkRow {
  const { is_stream, estimated, system_prompt_reset, kept_place, ...rest } = row
  const bit = (value: unknown) => (value === null ? null : Number(Boolean(value)))
  return {
    ...rest,
    is_stream: bit(is_stream),
    estimated: bit(estimated),
    system_prompt_reset: bit(system_prompt_reset),
    kept_place: bit(kept_place),
  }
}
