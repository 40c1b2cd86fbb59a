import type { Generated } from 'kysely'

/** Ours: an import from another program. A later run of the same source continues it. */
export interface ImportsTable {
  id: Generated<number>
  /** The program that made the source, such as `new-api`. */
  program: string
  /** The address of the source without its password. */
  source: string
  /** True if the installation was empty, so that ids were kept. */
  is_fresh: boolean
  /** Epoch seconds. */
  started_at: number
  updated_at: number
  /** When the source was last read to its end; 0 = never. */
  finished_at: Generated<number>
  /**
   * Up to these ids, log rows keep the ids of users, tokens and channels that no longer exist. No new row here gets one
   * of them.
   */
  known_users: Generated<number>
  known_tokens: Generated<number>
  known_channels: Generated<number>
  /** The last log row of the source that was read. */
  log_id: Generated<number>
  /** The log rows that were written, and among them the charges and their quota. */
  log_rows: Generated<number>
  charge_rows: Generated<number>
  charge_quota: Generated<number>
}

/** Ours: a row of the source and what it became here. */
export interface ImportRowsTable {
  import_id: number
  kind: string
  source_id: string
  target_id: number
  /** What identifies the row in the source: a name, or a hash of a key. */
  mark: Generated<string>
  /** The source's figures when they were last taken over; a later run adds the difference. */
  quota: Generated<number>
  used: Generated<number>
  requests: Generated<number>
}

/** Ours: an import that the console or the command line started. At most one of them is active. */
export interface ImportRunsTable {
  id: Generated<number>
  /** 1 while the run is queued or running; otherwise null. Unique, so that no two runs are active at once. */
  active: number | null
  state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted'
  dry_run: boolean
  /** Where the source is, without its password, or the name of the uploaded file. */
  source: string
  /** The addresses and the salt key, encrypted; '' once the source is forgotten. */
  sealed: Generated<string>
  /** The id and the name of the uploaded file; '' if there is none. */
  upload: Generated<string>
  upload_name: Generated<string>
  merge: boolean
  /** Comma-separated parts; '' = all. */
  parts: Generated<string>
  since: Generated<number>
  started_by: string
  /** Epoch seconds. An active run that has not been updated for a while belongs to a process that ended. */
  created_at: number
  updated_at: number
  finished_at: Generated<number>
  stage: Generated<string>
  done: Generated<number>
  total: Generated<number>
  /** Rows a second since the stage began. */
  per_second: Generated<number>
  /** The process that makes it, as in `nodes`. */
  process: string
  host: string
  pid: number
  cancel_asked: Generated<boolean>
  error: Generated<string>
  /** The report as JSON; '' if there is none. */
  report: Generated<string>
}
