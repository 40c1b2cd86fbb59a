import type { Compilable, Kysely, Transaction } from 'kysely'
import type { LedgerStore } from './schema/ledger-types.ts'
import type { Tables } from './schema/tables.ts'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

/**
 * A message between nodes about cached data that is out of date. With the topic `lease`, it contains the id of a user
 * whose leases must be returned.
 */
export interface Notice {
  topic: 'settings' | 'channels' | 'token' | 'user' | 'capture' | 'import' | 'lease'
  /** Row id, or 0 for everything in the topic. */
  id: number
}

export type NoticeListener = (notice: Notice | 'reconnected') => void | Promise<void>

/** Sends notices to every node, including the sender. */
export interface Notices {
  /**
   * Resolves when the listeners of this node have run. A person who made a change therefore sees it in the next request
   * to this node.
   */
  publish(notice: Notice): Promise<void>
  subscribe(listener: NoticeListener): void
  close(): Promise<void>
}

/** The database, which is SQLite or PostgreSQL. */
export interface Store {
  readonly dialect: 'sqlite' | 'postgres'
  /** For reading only. On SQLite it is a separate connection. */
  readonly read: Db
  /**
   * Runs `work` in one transaction. On SQLite all writes of the process pass through one queue. After a deadlock,
   * `work` is called again, so it must not have effects outside the transaction that differ if it runs twice. It must
   * lock rows of users before rows of their sessions, and rows of one table in id order.
   */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  /**
   * Runs one statement that is useless if it is late. If PostgreSQL does not respond within five seconds, the
   * connection is closed, so that the next statement gets another connection.
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
