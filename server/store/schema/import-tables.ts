import type { Generated } from 'kysely'

/** Added by Tollgate: an import from another program. A later run with the same source continues it. */
export interface ImportsTable {
  id: Generated<number>
  /** The program that made the source, such as `new-api`. */
  program: string
  /** The address of the source without its password. */
  source: string
  /** True if the installation was empty. The rows then kept their ids. */
  is_fresh: boolean
  /** Epoch seconds. */
  started_at: number
  updated_at: number
  /** The time at which the source was last read to its end; 0 = never. */
  finished_at: Generated<number>
  /**
   * The highest ids of users, tokens and channels in the source's log. Up to these ids, log rows keep the ids of users,
   * tokens and channels that no longer exist, because new rows in this installation never get them. All are 0 if ids
   * are not kept.
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

/** Added by Tollgate: a row of the source, and the row that it became in this installation. */
export interface ImportRowsTable {
  import_id: number
  kind: string
  source_id: string
  target_id: number
  /** A name or a hash of a key that identifies the row in the source. */
  mark: Generated<string>
  /** The source's figures at the time of the last import. A later run adds the difference. */
  quota: Generated<number>
  used: Generated<number>
  requests: Generated<number>
}

/** Added by Tollgate: an import that the console or the command line started. At most one of them is active. */
export interface ImportRunsTable {
  id: Generated<number>
  /**
   * 1 while the run is queued or running; otherwise null. The column is unique, so that no two runs are active at once.
   */
  active: number | null
  state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted'
  dry_run: boolean
  /** The address of the source without its password, or the name of the uploaded file. */
  source: string
  /** The addresses and the salt key, encrypted; '' after the source was deleted. */
  sealed: Generated<string>
  /** The id and the name of the uploaded file; '' if there is none. */
  upload: Generated<string>
  upload_name: Generated<string>
  merge: boolean
  /** Comma-separated parts; '' = all. */
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
