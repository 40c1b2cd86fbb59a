import type { Store } from '../store.ts'

export interface OpenOptions {
  /** `postgres://…` or `postgresql://…`, or the path of a SQLite file. */
  url: string
  /** The number of this process's connections to PostgreSQL, not counting those of the ledger. */
  poolSize?: number
  /**
   * SQLite's PRAGMA synchronous. With NORMAL, committed data survives a killed process. With FULL, it also survives a
   * power failure.
   */
  synchronous?: 'NORMAL' | 'FULL'
  /**
   * Removes the time limits on PostgreSQL's responses. Commands set this, because somebody is waiting for them at a
   * terminal.
   */
  unlimited?: boolean
}

/** A store as returned by `openStore`. */
export interface OpenedStore extends Store {
  /** Like `write`, but without the time limit. Migrations use it, because they process whole tables. */
  writeUnlimited?: Store['write']
}
