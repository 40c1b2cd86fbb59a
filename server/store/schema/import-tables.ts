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
