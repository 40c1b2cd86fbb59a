import type { ScheduledBackups } from '../backup/scheduled-backups.ts'
import type { Job } from './scheduler.ts'

const everyMs = 60_000

/** Makes backups when they are due. */
export function backupJobs(backups: Pick<ScheduledBackups, 'runIfDue'>): Job[] {
  return [{ name: 'backups', everyMs, run: backups.runIfDue }]
}
