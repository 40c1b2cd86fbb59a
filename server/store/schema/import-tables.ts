import type { Generated } from 'kysely'

/** Added by Tollgate: an import from another program. A later run with the same source continues it. */
export interface ImportsTable {
  id: Generated<number>
  /** The program that made the source, such as `new-api`. */
  program: string
  /** The address of the source without its password. */
  source: string
  /**
   * True if the installation was empty when the import began. The imported rows then have the same ids as in the
   * source.
   */
  is_fresh: boolean
  /** Epoch seconds. */
  started_at: number
  updated_at: number
  /** The time at which the source was last read to its end; 0 = never. */
  finished_at: Generated<number>
  /**
   * The highest ids of users, tokens and channels in the source's log. Imported log rows keep ids up to these even if
   * the user, token or channel no longer exists, because new rows in this installation get higher ids. All three are 0
   * if the import does not keep ids.
   */
  known_users: Generated<number>
  known_tokens: Generated<number>
  known_channels: Generated<number>
  /** The id of the last log row that was read from the source. */
  log_id: Generated<number>
  /** The number of log rows that were written, the number of charges among them, and the quota of these charges. */
  log_rows: Generated<number>
  charge_rows: Generated<number>
  charge_quota: Generated<number>
}

/** Added by Tollgate: a row of the source, and the row of this installation that was made from it. */
export interface ImportRowsTable {
  import_id: number
  kind: string
  source_id: string
  target_id: number
  /** A name or a hash of a key that identifies the row in the source. */
  mark: Generated<string>
  /**
   * The figures of the row in the source at the time of the last run. A later run adds the difference to the figures in
   * this installation.
   */
  quota: Generated<number>
  used: Generated<number>
  requests: Generated<number>
}

/** Added by Tollgate: an import that the console or the command line started. At most one of them is active. */
export interface ImportRunsTable {
  id: Generated<number>
  /** 1 while the run is queued or running; otherwise null. The column is unique, so that only one run can be active. */
  active: number | null
  state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted'
  dry_run: boolean
  /** The address of the source without its password, or the name of the uploaded file. */
  source: string
  /** The addresses and the salt key, encrypted; '' after the source was deleted. */
  sealed: Generated<string>
  /** The id and the name of an uploaded file from which the run reads; '' if it reads from a database. */
  upload: Generated<string>
  upload_name: Generated<string>
  merge: boolean
  /** The parts to import, separated by commas; '' = all. */
  parts: Generated<string>
  since: Generated<number>
  started_by: string
  /** Epoch seconds. If an active run has not been updated for a while, its process has ended. */
  created_at: number
  updated_at: number
  finished_at: Generated<number>
  stage: Generated<string>
  done: Generated<number>
  total: Generated<number>
  /** The number of rows per second since the stage began. */
  per_second: Generated<number>
  /** The process that executes the run, as in `nodes`. */
  process: string
  host: string
  pid: number
  cancel_asked: Generated<boolean>
  error: Generated<string>
  /** The report as JSON; '' if there is none. */
  report: Generated<string>
}
