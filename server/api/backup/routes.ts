import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { type BackupRow, listBackups } from '../../store/installation/backups.ts'
import { backupRun, lastRun, runDeadSeconds } from '../../store/installation/job-runs.ts'
import type { Store } from '../../store/store.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'

const listed = 20

/** The server's backups: a list, and a call that makes one now. */
export function mountBackups(router: ApiRouter, deps: Pick<ApiDeps, 'store' | 'clock' | 'backups'>): void {
  const { store, clock, backups } = deps

  serve(router, api.backup.list, async () => ({
    next_at: await backups.nextAt(),
    backups: await newestBackups(store, epochSeconds(clock)),
  }))

  serve(router, api.backup.start, async (call) => {
    await store.write((trx) => call.admitAgain(trx))
    const outcome = await backups.start(call.person.username)
    if (outcome === 'off') throw new ApiFailure('Set BackupStore first.')
    if (outcome === 'running') throw new ApiFailure('A backup is being made already.')
    await store.write((trx) => recordAudit(trx, auditEvent(clock, call, 'backup.start', 'backup')))
  })
}

/**
 * The newest backups. If a process dies during a backup, the backup's end time stays 0. Such a backup is returned as
 * interrupted, unless it is the newest and a node reports that a backup is running.
 */
async function newestBackups({ read }: Store, now: number): Promise<BackupRow[]> {
  const run = await lastRun(read, backupRun)
  const isRunning = run !== undefined && run.finished_at === 0 && run.updated_at > now - runDeadSeconds
  const rows = await listBackups(read, listed)
  return rows.map((row, at) =>
    row.finished_at > 0 || (isRunning && at === 0)
      ? row
      : { ...row, finished_at: row.started_at, error: 'it was interrupted' },
  )
}
