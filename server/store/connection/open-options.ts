import type { Store } from '../store.ts'

export interface OpenOptions {
  /** `postgres://…` or `postgresql://…`, or the path of a SQLite file. */
  url: string
  /** Connections of this process to PostgreSQL, not counting those of the ledger. */
  poolSize?: number
  /** SQLite's PRAGMA synchronous: NORMAL survives a killed process, FULL also survives a power failure. */
  synchronous?: 'NORMAL' | 'FULL'
  /** For a command, with somebody waiting at its terminal: PostgreSQL may take as long as it needs to respond. */
  unlimited?: boolean
}

/** A store as opened here. */
export interface OpenedStore extends Store {
  /** Like `write`, but without its time limit: for migrations, which process whole tables. */
  writeUnlimited?: Store['write']
}
