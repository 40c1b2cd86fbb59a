import { type Clock, epochSeconds } from '../lib/clock.ts'
import { messageOf } from '../lib/message-of.ts'
import type { Metrics } from '../metrics.ts'
import type { LogSink, SinkRow } from '../outbound/log-sink.ts'
import type { MetadataGuard } from '../outbound/metadata-guard.ts'
import type { Settings } from '../settings/settings.ts'
import type { LogRow } from '../store/logs/log-pages.ts'
import {
  advanceSink,
  beginSending,
  failSink,
  holdSink,
  type LogSinkState,
  releaseSink,
  sinkBacklog,
  sinkState,
  unsentRows,
} from '../store/logs/log-sinks.ts'
import type { Store } from '../store/store.ts'
import { decidedLogId } from '../store/usage/usage-rollup.ts'
import { type LogCopyPlace, type LogCopySettings, logCopyMonths, logCopyPlace, openLogCopy } from './log-copy-place.ts'
import type { Job } from './scheduler.ts'

export interface CopyLogDeps {
  store: Store
  nodeId: string
  clock: Clock
  config: LogCopySettings['config']
  settings: { current(): Settings }
  guard: MetadataGuard
  metrics: Pick<Metrics, 'logCopied'>
  warn(message: string): void
}

/** The progress of the copy of the log. Times are epoch seconds; 0 = never. */
export interface LogCopyState {
  /** The destination without credentials; empty if the log is not copied. */
  name: string
  /** True if LOG_SINK_URL sets the destination, which overrides the settings. */
  isSetByEnvironment: boolean
  waiting: number
  sentRows: number
  sentAt: number
  lostRows: number
  lostAt: number
  /** Why the last attempt failed, as a sentence; empty if it succeeded. */
  error: string
  failedAt: number
}

/** The copy of the log in a second database or an object store. */
export interface LogCopy {
  job: Job
  state(): Promise<LogCopyState>
  /**
   * Tests whether the destination accepts rows now. Returns `ok`, an error message, or `off` if no destination is
   * configured.
   */
  test(): Promise<string | 'ok' | 'off'>
}

const everyMs = 5_000
/**
 * How long a process keeps the exclusive right to copy after its last step. It is longer than the time limit of a step.
 */
const holdSeconds = 120
/**
 * The number of rows per step. Between two steps, the process can do other work. The number is smaller for SQLite,
 * because SQLite blocks the process while it reads.
 */
const rowsPerStep = { sqlite: 500, postgres: 5000 }
const stepsPerRun = 100
const longestRestSeconds = 60
const forgetSeconds = 3600
const monthSeconds = 31 * 86_400

/** Copies new log rows to the configured destination, every few seconds, on one node. Calls never wait for it. */
export function createLogCopy(deps: CopyLogDeps): LogCopy {
  const { store, nodeId, clock, config, guard } = deps
  const nowMs = () => clock.nowMs()
  const inForce = (): LogCopySettings => ({ config, settings: deps.settings.current() })
  let copier: Copier | undefined
  let running: Promise<void> = Promise.resolve()

  /**
   * Copies to the currently configured destination. If the destination has changed, copying continues from the position
   * that is stored for the new destination, and its count of failures starts at 0.
   */
  async function run(): Promise<void> {
    const place = logCopyPlace(inForce())
    const key = JSON.stringify(place)
    if (copier !== undefined && copier.key !== key) {
      await releaseSink(store, copier.place.name, nodeId)
      copier = undefined
    }
    if (place === undefined) return
    copier ??= { ...newCopier, key, place, sink: openLogCopy(place, guard, nowMs) }
    await runCopier({ ...deps, months: logCopyMonths(inForce()) }, copier)
  }

  return {
    job: {
      name: 'copy-log',
      everyMs,
      run() {
        running = run()
        return running
      },
      async end() {
        await running.catch(() => undefined)
        if (copier) await releaseSink(store, copier.place.name, nodeId)
      },
      isQuiet: () => config.logSink === undefined && deps.settings.current().LogCopyPlace === 'off',
    },
    state: () => stateOf(store, inForce()),
    async test() {
      const place = logCopyPlace(inForce())
      if (place === undefined) return 'off'
      return openLogCopy(place, guard, nowMs)
        .check()
        .then(() => 'ok', sentenceOf)
    },
  }
}

/** The state of copying to one destination. */
interface Copier {
  readonly key: string
  readonly place: LogCopyPlace
  readonly sink: LogSink
  failures: number
  restUntil: number
  forgottenAt: number
  lostBefore: number | undefined
}

const newCopier = { failures: 0, restUntil: 0, forgottenAt: 0, lostBefore: undefined }

interface Copying extends CopyLogDeps {
  months: number
}

async function runCopier(deps: Copying, copier: Copier): Promise<void> {
  const { store, nodeId, clock, warn } = deps
  const { place, sink } = copier
  const now = epochSeconds(clock)
  if (now < copier.restUntil) return
  const state = await holdSink(store, { name: place.name, holder: nodeId, now, until: now + holdSeconds })
  if (!state) return
  const lost = state.lost_rows - (copier.lostBefore ?? state.lost_rows)
  if (lost > 0) warn(`${lost} log rows were deleted before they were copied to ${place.name}: the copy has a gap`)
  copier.lostBefore = state.lost_rows
  try {
    const sent = await copy(deps, copier, state)
    if (copier.failures > 0) warn(`log rows are copied to ${place.name} again`)
    copier.failures = 0
    await measure(deps, sent, false)
    if (deps.months > 0 && now - copier.forgottenAt >= forgetSeconds) {
      copier.forgottenAt = now
      await sink.forget(now - deps.months * monthSeconds)
    }
  } catch (error) {
    const text = sentenceOf(error)
    if (copier.failures === 0) warn(`log rows cannot be copied to ${place.name} and are waiting: ${text}`)
    copier.failures++
    copier.restUntil = now + Math.min(longestRestSeconds, 5 * 2 ** Math.min(copier.failures, 5))
    await failSink(store, place.name, text, now)
    await measure(deps, state, true)
  }
}

/** A failure as a sentence, for the console and the server's own log. */
function sentenceOf(error: unknown): string {
  const text = messageOf(error)
  const whole = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(whole) ? whole : `${whole}.`
}

/** The progress of the copy to the currently configured destination. */
async function stateOf(store: Store, inForce: LogCopySettings): Promise<LogCopyState> {
  const isSetByEnvironment = inForce.config.logSink !== undefined
  const none = { waiting: 0, sentRows: 0, sentAt: 0, lostRows: 0, lostAt: 0, error: '', failedAt: 0 }
  let name: string
  try {
    name = logCopyPlace(inForce)?.name ?? ''
  } catch (error) {
    return { ...none, name: '', isSetByEnvironment, error: sentenceOf(error) }
  }
  if (name === '') return { ...none, name, isSetByEnvironment }
  const state = await sinkState(store.read, name)
  const waiting = await sinkBacklog(store.read, state ?? { sent_to: 0 })
  if (!state) return { ...none, name, isSetByEnvironment, waiting }
  return {
    ...{ name, isSetByEnvironment, waiting },
    ...{ sentRows: state.sent_rows, sentAt: state.sent_at, lostRows: state.lost_rows, lostAt: state.lost_at },
    ...{ error: state.error, failedAt: state.failed_at },
  }
}

/** Copies until nothing is left or the maximum number of steps is reached. Returns the state afterwards. */
async function copy(
  { store, nodeId, clock }: Copying,
  { place: { name }, sink }: Copier,
  state: LogSinkState,
): Promise<LogSinkState> {
  let { sent_to, sent_rows } = state
  const limit = rowsPerStep[store.dialect]
  const exact = sink.collectSeconds !== undefined
  const collected = sink.collectSeconds ?? 0
  // A transaction that has not committed yet may still add rows with lower ids. Rows are copied only up to the highest
  // id below which no row can be added.
  const decided = (await decidedLogId(store)) ?? 0
  for (let step = 0; step < stepsPerRun; step++) {
    // It is unknown whether the rows of an earlier, failed attempt were stored. The attempt is repeated with exactly
    // the same rows, which replace them.
    const isRepeated = exact && state.sending_to > sent_to
    const upTo = isRepeated ? Math.min(decided, state.sending_to) : decided
    const collects = exact && !isRepeated && upTo - sent_to < limit
    if (collects && !(await isDue(store, { after: sent_to, upTo, seconds: collected, now: epochSeconds(clock) }))) break
    const rows = await unsentRows(store, { after: sent_to, upTo, limit })
    const to = rows.at(-1)?.id
    if (to === undefined) {
      // No rows are left. If this is a repeated attempt, all of its rows have been deleted because of the retention
      // options, and copying continues after them.
      if (!isRepeated) break
      sent_to = state.sending_to
      continue
    }
    if (exact && !(await beginSending(store, { name, holder: nodeId, to }))) break
    await sink.send(rows.map(sinkRow))
    const now = epochSeconds(clock)
    const moved = { name, holder: nodeId, to, rows: rows.length, now, until: now + holdSeconds }
    if (!(await advanceSink(store, moved))) break
    sent_to = to
    sent_rows += rows.length
    if (!isRepeated && rows.length < limit) break
  }
  return { ...state, sent_to, sent_rows }
}

/**
 * True if the oldest row that is not copied has waited for `seconds`. A row with a time in the future does not delay
 * the others.
 */
async function isDue(
  store: Store,
  { after, upTo, seconds, now }: { after: number; upTo: number; seconds: number; now: number },
): Promise<boolean> {
  const [oldest] = await unsentRows(store, { after, upTo, limit: 1 })
  return oldest !== undefined && Math.abs(now - oldest.created_at) >= seconds
}

async function measure({ store, metrics }: CopyLogDeps, state: LogSinkState, failing: boolean): Promise<void> {
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
