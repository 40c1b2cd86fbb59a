import { setTimeout } from 'node:timers/promises'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { SettingsSource } from '../settings/settings.ts'
import { purgeAudit } from '../store/installation/audit.ts'
import { beginRun, errorRetentionRun, finishRun, partitionRun, retentionRun } from '../store/installation/job-runs.ts'
import { forgetErrorMinutes } from '../store/logs/failed-calls.ts'
import { purgeLogs } from '../store/logs/log-purge.ts'
import { keepPartitions } from '../store/logs/partitions/keep-partitions.ts'
import { isLockTimeout } from '../store/statements/database-errors.ts'
import type { Store } from '../store/store.ts'
import { rollUpUsage, usageBacklog } from '../store/usage/usage-rollup.ts'
import type { Job } from './scheduler.ts'

export interface LogJobDeps {
  store: Store
  settings: SettingsSource
  clock: Clock
  warn(message: string): void
  /** True if this process has not served a call for a while. The job `count-usage` then runs only once a minute. */
  isQuiet?(): boolean
}

const rollupMs = 5_000
/**
 * The maximum number of log rows that are not yet part of the usage sums. A query about usage reads these rows one by
 * one.
 */
const mostUncounted = 2000
const retentionMs = 600_000
const partitionsMs = 600_000
const hourSeconds = 3600
const daySeconds = 86_400
/** The pause between two steps of a purge, so that calls can use the database. */
const pauseMs = 20

/** Scheduled work on the log: adding new rows to the usage sums, creating partitions, and deleting old rows. */
export function logJobs(deps: LogJobDeps): Job[] {
  return [
    {
      name: 'count-usage',
      everyMs: rollupMs,
      run: () => countUsage(deps),
      ...(deps.isQuiet && { isQuiet: deps.isQuiet }),
    },
    { name: 'log-partitions', everyMs: partitionsMs, run: () => divideLog(deps) },
    { name: 'retention', everyMs: retentionMs, run: () => deleteOld(deps) },
  ]
}

/**
 * Adds new log rows to the usage sums at the end of an hour, or when there are many rows. Most rows of an hour belong
 * to the same few sums, so adding them together needs fewer writes.
 */
export async function countUsage({ store, clock }: Pick<LogJobDeps, 'store' | 'clock'>): Promise<void> {
  const now = epochSeconds(clock)
  const { rows, rolledUpAt } = await usageBacklog(store)
  const hourIsOver = Math.floor(rolledUpAt / hourSeconds) !== Math.floor(now / hourSeconds)
  if (rows >= mostUncounted || (rows > 0 && hourIsOver)) await rollUpUsage(store, now)
}

/**
 * On PostgreSQL, creates the partitions of coming months, and finishes the conversion of a table that was not
 * partitioned. Runs on one node. If a long read blocks the table, the next run tries again.
 */
export async function divideLog({ store, clock, warn }: Omit<LogJobDeps, 'settings'>): Promise<void> {
  if (store.dialect !== 'postgres') return
  const now = epochSeconds(clock)
  if (!(await store.write((trx) => beginRun(trx, partitionRun, now, partitionsMs / 1000 / 2)))) return
  try {
    const { state, newest } = await keepPartitions(store, now)
    if (state === 'impossible')
      warn(
        `the log is not divided by month, because it has a row of the time ${newest}, far in the future: correct its created_at`,
      )
  } catch (error) {
    if (!isLockTimeout(error)) throw error
  } finally {
    await store.write((trx) => finishRun(trx, partitionRun, epochSeconds(clock)))
  }
}

/**
 * Deletes log rows and audit events that are older than the options allow. Both deletions run once an hour, on one
 * node.
 */
export async function deleteOld({ store, settings, clock }: LogJobDeps): Promise<void> {
  const { LogRetentionDays, ErrorLogRetentionDays, AuditRetentionDays } = settings.current()
  const now = epochSeconds(clock)
  const before = (days: number) => now - days * daySeconds
  const pause = () => setTimeout(pauseMs)
  const hourly = async (run: string, work: () => Promise<unknown>) => {
    if (!(await store.write((trx) => beginRun(trx, run, now, hourSeconds)))) return
    await work().finally(() => store.write((trx) => finishRun(trx, run, epochSeconds(clock))))
  }
  // Failed calls are deleted first, because a partition can be dropped only if none of its rows must be kept.
  await hourly(errorRetentionRun, async () => {
    await forgetErrorMinutes(store, now)
    if (ErrorLogRetentionDays > 0)
      await purgeLogs(store, { before: before(ErrorLogRetentionDays), now, only: 'errors', pause })
  })
  if (LogRetentionDays > 0 || AuditRetentionDays > 0)
    await hourly(retentionRun, async () => {
      if (LogRetentionDays > 0) await purgeLogs(store, { before: before(LogRetentionDays), now, only: 'others', pause })
      if (AuditRetentionDays > 0) await purgeAudit(store, before(AuditRetentionDays), pause)
    })
}
