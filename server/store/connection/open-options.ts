import type { Store } from '../store.ts'

export interface OpenOptions {
  /** `postgres://…` or `postgresql://…`, or the path of a SQLite file. */
  url: string
  /** Connections of this process to PostgreSQL, not counting those of the ledger. */
  poolSize?: number
  /** SQLite's PRAGMA synchronous: NORMAL survives a killed process, FULL also survives a power failure. */
  synchronous?: 'NORMAL' | 'FULL'
  /**
   * Removes the time limits on PostgreSQL's responses. For commands, because somebody is waiting for them at a
   * terminal.
   */
  unlimited?: boolean
}

/** A store as returned by `openStore`. */
export interface OpenedStore extends Store {
  /** Like `write`, but without its time limit: for migrations, which process whole tables. */
  writeUnlimited?: Store['write']
}
