import type { Insertable, Selectable } from 'kysely'
import type { BackupsTable } from '../schema/backup-tables.ts'
import type { Db, Trx } from '../store.ts'

export type BackupRow = Selectable<BackupsTable>

/** Rows of failed backups are deleted unless they are among this number of newest rows. */
const keptRows = 100

/** The newest backups, newest first. */
export function listBackups(db: Db, limit: number): Promise<BackupRow[]> {
  return db.selectFrom('backups').selectAll().orderBy('id', 'desc').limit(limit).execute()
}

/** Begins a backup. Earlier backups that did not end are marked as interrupted, because their processes are gone. */
export async function beginBackup(trx: Trx, row: Omit<Insertable<BackupsTable>, 'id'>): Promise<number> {
  await trx
    .updateTable('backups')
    .set({ error: 'it was interrupted', finished_at: row.started_at })
    .where('finished_at', '=', 0)
    .execute()
  const { id } = await trx.insertInto('backups').values(row).returning('id').executeTakeFirstOrThrow()
  await trx
    .deleteFrom('backups')
    .where('id', '<=', id - keptRows)
    .where('error', '<>', '')
    .execute()
  return id
}

export async function endBackup(
  trx: Trx,
  id: number,
  result: Pick<BackupRow, 'finished_at' | 'bytes' | 'error'>,
): Promise<void> {
  await trx.updateTable('backups').set(result).where('id', '=', id).execute()
}

/** Records a backup that is already complete. */
export async function addBackupRow(trx: Trx, row: Insertable<BackupsTable>): Promise<void> {
  await trx.insertInto('backups').values(row).execute()
}

/** Successful backups with the given place and host that the server made, except the newest `keep`. */
export function surplusBackups(db: Db, of: Pick<BackupRow, 'place' | 'host'>, keep: number): Promise<BackupRow[]> {
  return db
    .selectFrom('backups')
    .selectAll()
    .where('place', '=', of.place)
    .where('host', '=', of.host)
    .where('made_by', '<>', commandLine)
    .where('error', '=', '')
    .where('finished_at', '>', 0)
    .orderBy('id', 'desc')
    .offset(keep)
    .limit(keptRows)
    .execute()
}

/**
 * The value of `made_by` for backups that the backup command wrote. Their files belong to the operator and are never
 * deleted.
 */
export const commandLine = 'command line'

export async function forgetBackup(trx: Trx, id: number): Promise<void> {
  await trx.deleteFrom('backups').where('id', '=', id).execute()
}

/**
 * The newest successful backup, and the newest attempt that has ended. With `server`, only backups that the server made
 * are considered.
 */
export async function lastBackups(
  db: Db,
  by: 'anybody' | 'server',
): Promise<{ good: BackupRow | undefined; ended: BackupRow | undefined }> {
  const ended = () =>
    db
      .selectFrom('backups')
      .selectAll()
      .where('finished_at', '>', 0)
      .$if(by === 'server', (query) => query.where('made_by', '<>', commandLine))
      .orderBy('id', 'desc')
      .limit(1)
  return {
    good: await ended().where('error', '=', '').executeTakeFirst(),
    ended: await ended().executeTakeFirst(),
  }
}
