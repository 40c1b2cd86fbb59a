import { setTimeout } from 'node:timers/promises'
import { epochSeconds } from '../lib/clock.ts'
import { purgeAlertHistory } from '../store/accounts/alert-history.ts'
import { alertRetentionRun, beginRun, finishRun } from '../store/installation/job-runs.ts'
import { type DeliverAlertsDeps, deliverAlerts } from './deliver-alerts.ts'
import { createAlertEvaluation } from './evaluate-alerts.ts'
import type { Job } from './scheduler.ts'

const evaluateMs = 15_000
const deliverMs = 5_000
const retentionMs = 600_000
const hourSeconds = 3600
/** How long messages stay in the history. */
const keptSeconds = 90 * 86_400
const pauseMs = 20

/** The scheduled work for alerts. */
export function alertJobs(deps: DeliverAlertsDeps): Job[] {
  const { store, clock } = deps
  const evaluate = createAlertEvaluation(deps)
  // True if no message was due in the last run. The job then runs once a minute until an evaluation of the rules may
  // have created messages. That is often enough for retries, which become due minutes after a failed attempt.
  let isDelivered = false
  return [
    {
      name: 'alerts',
      everyMs: evaluateMs,
      async run() {
        if (await evaluate()) isDelivered = false
      },
    },
    {
      name: 'alert-messages',
      everyMs: deliverMs,
      isQuiet: () => isDelivered,
      async run() {
        isDelivered = true
        if ((await deliverAlerts(deps)) > 0) isDelivered = false
      },
    },
    {
      name: 'alert-history',
      everyMs: retentionMs,
      async run() {
        const now = epochSeconds(clock)
        if (!(await store.write((trx) => beginRun(trx, alertRetentionRun, now, hourSeconds)))) return
        await purgeAlertHistory(store, now - keptSeconds, () => setTimeout(pauseMs)).finally(() =>
          store.write((trx) => finishRun(trx, alertRetentionRun, epochSeconds(clock))),
        )
      },
    },
  ]
}
