import type { Compilable, Kysely, Transaction } from 'kysely'
import type { LedgerStore } from './schema/ledger-types.ts'
import type { Tables } from './schema/tables.ts'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

/**
 * A message between nodes. It names cached data that is out of date. With the topic `lease`, it names a user whose
 * leases must be returned.
 */
export interface Notice {
  topic: 'settings' | 'channels' | 'token' | 'user' | 'capture' | 'import' | 'lease'
  /** Row id, or 0 for everything in the topic. */
  id: number
}

export type NoticeListener = (notice: Notice | 'reconnected') => void | Promise<void>

/** Sends notices to every node, including the sender. */
export interface Notices {
  /** Resolves when this node's own listeners are done, so that whoever made a change sees it in their next call. */
  publish(notice: Notice): Promise<void>
  subscribe(listener: NoticeListener): void
  close(): Promise<void>
}

/** One database, SQLite or PostgreSQL, behind the same interface. */
export interface Store {
  readonly dialect: 'sqlite' | 'postgres'
  /** For reading only. On SQLite it is a separate connection. */
  readonly read: Db
  /**
   * Runs `work` in one transaction. On SQLite all writes of the process pass through one queue. After a deadlock `work`
   * runs again from its beginning, so its effects outside the transaction must be the same when it runs twice. It must
   * lock rows of users before rows of their sessions, and rows of one table in id order.
   */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  /**
   * Runs one statement that must arrive soon or not at all. PostgreSQL has five seconds to respond. A connection on
   * which it does not respond is dropped, so that the next statement gets another connection.
   */
  writeSoon(statement: (db: Db) => Compilable): Promise<void>
  /**
   * A number that changes whenever another process has written to the database; absent if the database does not report
   * this.
   */
  foreignWrites?(): number
  readonly ledger: LedgerStore
  readonly notices: Notices
  close(): Promise<void>
}
