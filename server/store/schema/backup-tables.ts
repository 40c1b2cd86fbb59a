import type { Generated } from 'kysely'

/** Added by Tollgate: backups that were made or attempted. */
export interface BackupsTable {
  id: Generated<number>
  started_at: number
  /** 0 while the backup is being made, and for a backup whose process died. */
  finished_at: number
  /** `schedule`, `command line`, or the name of the person who asked for it. */
  made_by: string
  place: 'files' | 's3'
  /** The host of the file. */
  host: string
  /** The absolute path of the file, or the key of the object. */
  path: string
  bytes: number
  /** The reason why the backup failed; '' if it did not. */
  error: string
}
