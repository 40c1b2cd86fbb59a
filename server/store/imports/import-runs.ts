import { type Insertable, type Selectable, sql } from 'kysely'
import type { ImportRunsTable } from '../schema/import-tables.ts'
import type { Db, Trx } from '../store.ts'

export type ImportRunRow = Selectable<ImportRunsTable>

/** An active run that has not reported for this long is considered dead. */
export const importDeadSeconds = 30
const keptRuns = 100

/** The process that executes a run. */
export type RunOwner = Pick<ImportRunRow, 'process' | 'host' | 'pid'>

/**
 * Records a run as the active one. Throws a unique violation if another run is active. If the process of that run is
 * dead, the run is first marked as interrupted. `isGone` returns true if a process on this machine has ended.
 */
export async function beginImportRun(
  trx: Trx,
  row: Omit<Insertable<ImportRunsTable>, 'id' | 'active' | 'updated_at'>,
  isGone: (owner: RunOwner) => boolean,
): Promise<number> {
  const other = await trx.selectFrom('import_runs').selectAll().where('active', '=', 1).executeTakeFirst()
  if (other && (isGone(other) || other.updated_at <= row.created_at - importDeadSeconds))
    await trx
      .updateTable('import_runs')
      .set({ active: null, state: 'interrupted', finished_at: row.created_at })
      .where('id', '=', other.id)
      .execute()
  const { id } = await trx
    .insertInto('import_runs')
    .values({ ...row, active: 1, updated_at: row.created_at })
    .returning('id')
    .executeTakeFirstOrThrow()
  await trx
    .deleteFrom('import_runs')
    .where('id', '<=', id - keptRuns)
    .execute()
  return id
}

/** Takes a queued run. If several nodes try, only one succeeds. */
export async function takeImportRun(trx: Trx, id: number, owner: RunOwner, now: number): Promise<boolean> {
  const taken = await trx
    .updateTable('import_runs')
    .set({ ...owner, state: 'running', updated_at: now })
    .where('id', '=', id)
    .where('active', '=', 1)
    .where('state', '=', 'queued')
    .returning('id')
    .executeTakeFirst()
  return taken !== undefined
}

/** Records the progress of a run. Returns true if somebody asked to cancel it, or if it is no longer the active one. */
export async function touchImportRun(
  trx: Trx,
  id: number,
  step: Pick<ImportRunRow, 'stage' | 'done' | 'total' | 'per_second' | 'updated_at'>,
): Promise<boolean> {
  const row = await trx
    .updateTable('import_runs')
    .set(step)
    .where('id', '=', id)
    .where('active', '=', 1)
    .returning('cancel_asked')
    .executeTakeFirst()
  return row === undefined || Boolean(row.cancel_asked)
}

/** Ends a run. With `forget`, the stored source of the run is deleted. */
export async function endImportRun(
  trx: Trx,
  id: number,
  end: Pick<ImportRunRow, 'state' | 'finished_at' | 'error' | 'report'>,
  forget: boolean,
): Promise<void> {
  await trx
    .updateTable('import_runs')
    .set({ ...end, active: null, updated_at: end.finished_at })
    .where('id', '=', id)
    .execute()
  if (forget) await forgetSources(trx, end.finished_at + 1)
}

/** Deletes the stored sources of runs that began before a time. The active run keeps its source. */
export async function forgetSources(trx: Trx, before: number): Promise<void> {
  await trx
    .updateTable('import_runs')
    .set({ sealed: '', upload: '' })
    .where('created_at', '<', before)
    .where('active', 'is', null)
    .where((eb) => eb.or([eb('sealed', '<>', ''), eb('upload', '<>', '')]))
    .execute()
}

/**
 * Asks for a run to be cancelled. A run that no node has taken is cancelled at once. False if the run is not active.
 */
export async function cancelImportRun(trx: Trx, id: number, now: number): Promise<boolean> {
  const queued = await trx
    .updateTable('import_runs')
    .set({ state: 'cancelled', active: null, finished_at: now })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .returning('id')
    .executeTakeFirst()
  if (queued) return true
  const running = await trx
    .updateTable('import_runs')
    .set({ cancel_asked: sql<boolean>`true` })
    .where('id', '=', id)
    .where('active', '=', 1)
    .returning('id')
    .executeTakeFirst()
  return running !== undefined
}

/** The newest runs, newest first. */
export async function listImportRuns(db: Db, limit: number): Promise<ImportRunRow[]> {
  const rows = await db.selectFrom('import_runs').selectAll().orderBy('id', 'desc').limit(limit).execute()
  return rows.map(plain)
}

export async function importRun(db: Db, id: number): Promise<ImportRunRow | undefined> {
  const row = await db.selectFrom('import_runs').selectAll().where('id', '=', id).executeTakeFirst()
  return row && plain(row)
}

/** The active run, unless its process has ended. */
export async function activeImportRun(db: Db, now: number): Promise<ImportRunRow | undefined> {
  const row = await db
    .selectFrom('import_runs')
    .selectAll()
    .where('active', '=', 1)
    .where('updated_at', '>', now - importDeadSeconds)
    .executeTakeFirst()
  return row && plain(row)
}

/** The uploaded files that runs still refer to. */
export async function usedUploads(db: Db): Promise<Set<string>> {
  const rows = await db.selectFrom('import_runs').select('upload').where('upload', '<>', '').execute()
  return new Set(rows.map(({ upload }) => upload))
}

function plain(row: ImportRunRow): ImportRunRow {
  return {
    ...row,
    dry_run: Boolean(row.dry_run),
    merge: Boolean(row.merge),
    cancel_asked: Boolean(row.cancel_asked),
  }
}
