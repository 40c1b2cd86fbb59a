import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Events } from './events.ts'
import type { Logger } from './log.ts'

/** Live figures that are read when somebody asks for the metrics. */
export interface Gauges {
  ledgerPending(): number
  openBreakers(): number
  openCalls(): number
}

export interface Metrics {
  events: Events
  /** Prometheus text format. */
  text(): Promise<string>
  contentType: string
  bind(gauges: Gauges): void
}

/** Counters and histograms of this process, and the log lines that go with the events. */
export function createMetrics(log: Logger): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'tollgate_' })
  const registers = [registry]
  const calls = new Counter({ name: 'tollgate_calls_total', help: 'Relayed calls by kind and outcome', labelNames: ['mode', 'outcome'], registers })
  const quota = new Counter({ name: 'tollgate_quota_charged_total', help: 'Quota units charged', registers })
  const tokens = new Counter({ name: 'tollgate_tokens_total', help: 'Tokens charged', labelNames: ['class'], registers })
  const estimated = new Counter({ name: 'tollgate_estimated_calls_total', help: 'Calls whose usage was counted here', registers })
  const seconds = new Histogram({ name: 'tollgate_call_seconds', help: 'Duration of relayed calls', labelNames: ['mode'], buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300], registers })
  const firstByte = new Histogram({ name: 'tollgate_first_byte_seconds', help: 'Time to the first byte of relayed answers', labelNames: ['mode'], buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60], registers })
  const failures = new Counter({ name: 'tollgate_upstream_failures_total', help: 'Failed attempts by channel', labelNames: ['channel', 'reason'], registers })
  const disabled = new Counter({ name: 'tollgate_channels_disabled_total', help: 'Channels switched off automatically', registers })
  const retried = new Counter({ name: 'tollgate_settle_retries_total', help: 'Settles repeated because the database failed', registers })
  const swept = new Counter({ name: 'tollgate_holds_swept_total', help: 'Holds of dead processes that were closed', registers })

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    bind(gauges) {
      const gauge = (name: string, help: string, read: () => number) =>
        new Gauge({
          name,
          help,
          registers,
          collect() {
            this.set(read())
          },
        })
      gauge('tollgate_ledger_pending', 'Ledger operations not yet durable', gauges.ledgerPending)
      gauge('tollgate_breakers_open', 'Channel and model pairs that are left alone', gauges.openBreakers)
      gauge('tollgate_open_calls', 'Relayed calls under way', gauges.openCalls)
    },
    events: {
      callEnded(event) {
        calls.inc({ mode: event.mode, outcome: event.outcome })
        quota.inc(event.quota)
        tokens.inc({ class: 'prompt' }, event.promptTokens)
        tokens.inc({ class: 'completion' }, event.completionTokens)
        if (event.estimated) estimated.inc()
        seconds.observe({ mode: event.mode }, event.elapsedMs / 1000)
        if (event.firstByteMs > 0) firstByte.observe({ mode: event.mode }, event.firstByteMs / 1000)
        if (log.isLevelEnabled('debug')) log.debug(event, 'call ended')
      },
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
        log.error(event, 'a settle failed and is repeated')
      },
      holdSwept(event) {
        swept.inc()
        log.warn(event, 'hold of a dead process closed')
      },
      warning: (message) => log.warn(message),
    },
  }
}
