import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import type { DatabaseState, Events, Outcome } from './events.ts'
import { ModeHistogram } from './lib/mode-histogram.ts'
import type { Logger } from './log.ts'

/** Current values, which are read when the metrics are requested. */
export interface Gauges {
  ledgerPending(): number
  openBreakers(): number
  openCalls(): number
  waitingCalls(): number
  /** The longest delay of the event loop since the last call of this function, in seconds. */
  longestLagSeconds(): number
}

/** A limit of a channel, and how much of it is in use. */
export interface LimitInUse {
  channel: string
  owner: string
  metric: string
  window: string
  models: string
  used: number
  allowed: number
}

/** The state of the copying of log rows to a second store. */
export interface SinkFigures {
  /** Rows that have not been copied yet. */
  waiting: number
  sent: number
  /** Rows that were deleted before they were copied. */
  lost: number
  /** True if the last attempt failed. */
  failing: boolean
}

export interface Metrics {
  events: Events
  /** Returns all metrics in Prometheus's text format. */
  text(): Promise<string>
  contentType: string
  bind(gauges: Gauges): void
  /** Counts failed calls whose log rows could not be written. */
  failedCallsLost(calls: number): void
  /** Counts requests that should have been recorded but were not. */
  capturesLost(count: number): void
  /** Sets how much of each channel limit is in use. */
  limitsInUse(limits: readonly LimitInUse[]): void
  /** Sets the figures of the log copy. Only the process that copies the log calls this. */
  logCopied(figures: SinkFigures): void
  /** Sets the result of the check that SQLite does of its database at startup. */
  databaseChecked(state: DatabaseState): void
}

const longestTimerMs = 2 ** 31 - 1
const callBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const firstByteBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Creates the counters and histograms of this process. Most of the functions in `events` also write log lines. */
export function createMetrics(log: Logger): Metrics {
  const registry = new Registry()
  collectRuntimeMetrics(registry)
  const { callEnded, addUp } = callEvents(registry, log)
  return {
    contentType: registry.contentType,
    text() {
      addUp()
      return registry.metrics()
    },
    bind: (gauges) => bindGauges(registry, gauges),
    failedCallsLost: lostCounter(registry),
    capturesLost: captureCounter(registry),
    databaseChecked: stateGauge(registry),
    limitsInUse: limitGauges(registry),
    logCopied: sinkGauges(registry),
    events: { callEnded, ...rareEvents(registry, log) },
  }
}

/**
 * Adds prom-client's default metrics of Node.js, except the distribution of the event loop's delays. Measuring that
 * distribution takes a hundred timers a second, which would be most of the work of an idle process. The longest delay
 * is measured by `longestLagSeconds` instead.
 */
function collectRuntimeMetrics(registry: Registry): void {
  const prefix = 'tollgate_'
  collectDefaultMetrics({ register: registry, prefix, eventLoopMonitoringPrecision: longestTimerMs })
  for (const figure of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'])
    registry.removeSingleMetric(`${prefix}nodejs_eventloop_lag_${figure}_seconds`)
}

/** Creates the gauge when the result of SQLite's check is known. With PostgreSQL, there is no check and no gauge. */
function stateGauge(registry: Registry): Metrics['databaseChecked'] {
  const figures = { sound: 1, damaged: 0, unknown: -1 } as const
  return (state) =>
    new Gauge({
      name: 'tollgate_database_sound',
      help: 'SQLite quick check at the start: 1 sound, 0 damaged, -1 not known',
      registers: [registry],
    }).set(figures[state])
}

function limitGauges(registry: Registry): Metrics['limitsInUse'] {
  const labelNames = ['channel', 'owner', 'metric', 'window', 'models']
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers: [registry] })
  const inUse = gauge('tollgate_channel_limit_used', 'What the limits of channels have in use')
  const most = gauge('tollgate_channel_limit_allowed', 'What the limits of channels allow')
  return (limits) => {
    inUse.reset()
    most.reset()
    for (const { used, allowed, ...labels } of limits) {
      inUse.set(labels, used)
      most.set(labels, allowed)
    }
  }
}

/** Creates the gauges when they are first set, so that only the process that copies the log has them. */
function sinkGauges(registry: Registry): Metrics['logCopied'] {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] })
  let gauges: Record<keyof SinkFigures, Gauge> | undefined
  return (figures) => {
    gauges ??= {
      waiting: gauge('tollgate_log_sink_waiting_rows', 'Log rows that wait to be copied'),
      sent: gauge('tollgate_log_sink_sent_rows', 'Log rows that were copied'),
      lost: gauge('tollgate_log_sink_lost_rows', 'Log rows that were deleted before they were copied'),
      failing: gauge('tollgate_log_sink_failing', 'Whether the last attempt to copy log rows failed'),
    }
    for (const [name, each] of Object.entries(gauges)) each.set(Number(figures[name as keyof SinkFigures]))
  }
}

function bindGauges(registry: Registry, gauges: Gauges): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  gauge('tollgate_ledger_pending', 'Ledger operations not yet durable', gauges.ledgerPending)
  gauge('tollgate_breakers_open', 'Channel and model pairs that are left alone', gauges.openBreakers)
  gauge('tollgate_open_calls', 'Relayed calls under way', gauges.openCalls)
  gauge('tollgate_waiting_calls', 'Calls that wait for a channel at its limits', gauges.waitingCalls)
  gauge(
    'tollgate_nodejs_eventloop_lag_max_seconds',
    'The longest delay of the event loop since the last reading',
    gauges.longestLagSeconds,
  )
}

/** The metrics that every call changes. `callEnded` collects sums, and `addUp` adds them to the counters. */
function callEvents(registry: Registry, log: Logger): Pick<Events, 'callEnded'> & { addUp(): void } {
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers })
  const histogram = (name: string, help: string, buckets: number[]) => {
    const metric = new ModeHistogram(name, help, buckets)
    registry.registerMetric(metric as unknown as Metric)
    return metric
  }
  const calls = counter('tollgate_calls_total', 'Relayed calls by kind and outcome', ['mode', 'outcome'])
  const quota = counter('tollgate_quota_charged_total', 'Quota units charged')
  const uncovered = counter('tollgate_uncovered_quota_total', 'Quota units of prices that no balance covered')
  const tokens = counter('tollgate_tokens_total', 'Tokens charged', ['class'])
  const estimated = counter('tollgate_estimated_calls_total', 'Calls whose usage was counted here')
  const seconds = histogram('tollgate_call_seconds', 'Duration of relayed calls', callBuckets)
  const firstByte = histogram('tollgate_first_byte_seconds', 'Time to the first byte of answers', firstByteBuckets)
  // Sums are kept until the metrics are read. Updating a counter for each call would look up its labels each time,
  // which costs more than the rest of `callEnded`.
  let sums = noSums()
  return {
    callEnded(event) {
      const ofMode = sums.calls.get(event.mode) ?? new Map<Outcome, number>()
      sums.calls.set(event.mode, ofMode.set(event.outcome, (ofMode.get(event.outcome) ?? 0) + 1))
      sums.quota += event.quota
      sums.uncovered += event.uncovered
      sums.promptTokens += event.promptTokens
      sums.completionTokens += event.completionTokens
      if (event.estimated) sums.estimated++
      seconds.observe(event.mode, event.elapsedMs / 1000)
      if (event.firstByteMs > 0) firstByte.observe(event.mode, event.firstByteMs / 1000)
      if (log.isLevelEnabled('debug')) log.debug(event, 'call ended')
    },
    addUp() {
      for (const [mode, outcomes] of sums.calls)
        for (const [outcome, count] of outcomes) calls.inc({ mode, outcome }, count)
      quota.inc(sums.quota)
      uncovered.inc(sums.uncovered)
      tokens.inc({ class: 'prompt' }, sums.promptTokens)
      tokens.inc({ class: 'completion' }, sums.completionTokens)
      estimated.inc(sums.estimated)
      sums = noSums()
    },
  }
}

/** Sums over ended calls. */
const noSums = () => ({
  calls: new Map<string, Map<Outcome, number>>(),
  quota: 0,
  uncovered: 0,
  promptTokens: 0,
  completionTokens: 0,
  estimated: 0,
})

function lostCounter(registry: Registry): (calls: number) => void {
  const lost = new Counter({
    name: 'tollgate_error_rows_lost_total',
    help: 'Failed calls without a log row, because too many tokens failed at once or the database refused to store it',
    registers: [registry],
  })
  return (calls) => lost.inc(calls)
}

function captureCounter(registry: Registry): (count: number) => void {
  const lost = new Counter({
    name: 'tollgate_recordings_lost_total',
    help: 'Requests that should have been recorded and could not be stored',
    registers: [registry],
  })
  return (count) => lost.inc(count)
}

/** Events for failures. All of them except `callRefused` write a line to the log. */
function rareEvents(registry: Registry, log: Logger): Omit<Events, 'callEnded'> {
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers: [registry] })
  const failures = counter('tollgate_upstream_failures_total', 'Failed attempts by channel', ['channel', 'reason'])
  const refused = counter('tollgate_error_answers_total', 'Calls answered with an error, by its code', ['code'])
  const disabled = counter('tollgate_channels_disabled_total', 'Channels switched off automatically')
  const retried = counter('tollgate_settle_retries_total', 'Settles repeated because the database failed')
  const uncaught = counter('tollgate_uncaught_faults_total', 'Uncaught errors in the program')
  const swept = counter('tollgate_holds_swept_total', 'Holds of dead processes that were closed')
  return {
    // No log line is written, because a caller without a token can send requests as often as it likes.
    callRefused: ({ code }) => refused.inc({ code }),
    attemptFailed(event) {
      failures.inc({ channel: String(event.channelId), reason: event.reason })
      log.info(event, 'attempt failed')
    },
    channelDisabled(event) {
      disabled.inc()
      log.warn(event, 'channel disabled')
    },
    settleRetried(event) {
      retried.inc()
      log.error(event, 'settling a call failed and will be retried')
    },
    holdSwept(event) {
      swept.inc()
      log.warn(event, 'closed the hold of a dead process')
    },
    faultUncaught(event) {
      uncaught.inc()
      log.error(event, 'an error in the program was not caught; everything else continues')
    },
    warning: (message) => log.warn(message),
  }
}
