import { type Selectable, sql } from 'kysely'
import type { JobRunsTable } from '../schema/tables.ts'
import type { Db, Trx } from '../store.ts'

export type JobRun = Selectable<JobRunsTable>

/** Names of job runs. */
export const channelTestRun = 'test-channels'
export const retentionRun = 'retention'
export const errorRetentionRun = 'error-retention'
export const partitionRun = 'log-partitions'
export const alertRun = 'alerts'
export const alertRetentionRun = 'alert-retention'
export const backupRun = 'backup'
export const statementRun = 'statement-emails'
export const priceSyncRun = 'price-sync'

/** A run that has not reported for this long is considered dead, and another run may begin. */
export const runDeadSeconds = 300

/**
 * Begins a run unless another run is in progress on some node or began less than `everySeconds` ago. If several nodes
 * try at once, only one succeeds.
 */
export async function beginRun(trx: Trx, name: string, now: number, everySeconds = 0): Promise<boolean> {
  const fresh = { started_at: now, updated_at: now, finished_at: 0, total: 0, done: 0, failed: 0 }
  const begun = await trx
    .insertInto('job_runs')
    .values({ name, ...fresh })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet(fresh)
        .where((eb) =>
          eb.and([
            eb.or([eb('job_runs.finished_at', '>', 0), eb('job_runs.updated_at', '<=', now - runDeadSeconds)]),
            eb('job_runs.started_at', '<=', now - everySeconds),
          ]),
        ),
    )
    .returning('name')
    .executeTakeFirst()
  return begun !== undefined
}

/** Records how much work the run has to do. */
export async function planRun(trx: Trx, name: string, total: number): Promise<void> {
  await trx.updateTable('job_runs').set({ total }).where('name', '=', name).execute()
}

/** Records that one piece of the work is done. */
export async function advanceRun(trx: Trx, name: string, now: number, ok: boolean): Promise<void> {
  await trx
    .updateTable('job_runs')
    .set({ updated_at: now, done: sql<number>`done + 1`, failed: sql<number>`failed + ${ok ? 0 : 1}` })
    .where('name', '=', name)
    .execute()
}

/** Records that the run is alive. This is for work that has no pieces. */
export async function touchRun(trx: Trx, name: string, now: number): Promise<void> {
  await trx.updateTable('job_runs').set({ updated_at: now }).where('name', '=', name).execute()
}

export async function finishRun(trx: Trx, name: string, now: number): Promise<void> {
  await trx.updateTable('job_runs').set({ updated_at: now, finished_at: now }).where('name', '=', name).execute()
}

export function lastRun(db: Db, name: string): Promise<JobRun | undefined> {
  return db.selectFrom('job_runs').selectAll().where('name', '=', name).executeTakeFirst()
}
