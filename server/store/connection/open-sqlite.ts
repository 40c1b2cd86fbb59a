import { Database } from 'bun:sqlite'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import { messageOf } from '../../lib/message-of.ts'
import { sqliteLedger } from '../ledger/ledger-sqlite.ts'
import type { Tables } from '../schema/tables.ts'
import { createWriteQueue } from '../statements/write-queue.ts'
import type { Store } from '../store.ts'
import { localNotices } from './notices-local.ts'
import type { OpenOptions } from './open-options.ts'

/** Opens a SQLite file, which is created if it does not exist. */
export function openSqlite({ url, synchronous = 'NORMAL' }: OpenOptions): Store {
  mkdirSync(dirname(url), { recursive: true, mode: 0o700 })
  // Reads have a separate connection, so that they never see the unfinished writes of the writer's open transaction.
  const writer = connectSqlite(url, synchronous)
  // The limit is short, because SQLite blocks the process while it waits for the lock. The write queue then waits and
  // tries again without blocking.
  writer.run('PRAGMA busy_timeout = 5')
  const reader = connectSqlite(url, synchronous)
  const writeDb = kyselyOn(writer)
  const readDb = kyselyOn(reader)
  const queue = createWriteQueue()
  return {
    dialect: 'sqlite',
    read: readDb,
    write: (work) => queue.run(() => writeDb.transaction().execute(work)),
    writeSoon: (statement) =>
      queue.run(async () => {
        await writeDb.executeQuery(statement(writeDb))
      }),
    // SQLite changes `data_version` after writes by other connections, but not after writes by this one.
    foreignWrites: () => (writer.query('PRAGMA data_version').get() as { data_version: number }).data_version,
    ledger: sqliteLedger(writer, queue),
    notices: localNotices(),
    async close() {
      await queue.run(async () => undefined)
      reader.close()
      tidy(writer)
      writer.close()
    },
  }
}

/**
 * Merges the write-ahead log into the database file if possible, so that only one file is left. If the disk is full,
 * the write-ahead log stays, and the next start reads it.
 */
function tidy(writer: Database): void {
  try {
    writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // The write-ahead log stays and is read at the next start.
  }
}

/**
 * The number of pages in the write-ahead log from which they are copied into the database. Most calls change the same
 * few pages. If the log is larger, each of these pages is copied less often, and the disk is flushed less often
 * (decision 0140).
 */
const checkpointPages = 4_000

function connectSqlite(url: string, synchronous: 'NORMAL' | 'FULL'): Database {
  try {
    // The file is created here with a mode that lets nobody else read it, whatever the folder allows. The write-ahead
    // log inherits the mode.
    closeSync(openSync(url, 'a', 0o600))
    const database = new Database(url)
    database.run('PRAGMA busy_timeout = 10000')
    database.run('PRAGMA journal_mode = WAL')
    database.run(`PRAGMA synchronous = ${synchronous}`)
    database.run(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    database.run('PRAGMA foreign_keys = ON')
    return database
  } catch (error) {
    const cause = messageOf(error)
    throw new Error(`the SQLite database ${url} cannot be opened (${cause})`, { cause: error })
  }
}

const nothing = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
}

function kyselyOn(database: Database): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: new SqliteDialect({
      database: {
        close: () => database.close(),
        prepare(sql) {
          // A full disk has already ended the transaction; ending it again would hide the original error.
          if (sql === 'rollback' && !database.inTransaction) return nothing
          // A deferred transaction can fail with SQLITE_BUSY at its first write, without waiting. An immediate
          // transaction waits its turn.
          const statement = database.query(sql === 'begin' ? 'begin immediate' : sql)
          return {
            reader: statement.columnNames.length > 0,
            all: (parameters) => statement.all(...(parameters as never[])),
            run: (parameters) => statement.run(...(parameters as never[])),
            iterate: (parameters) => statement.iterate(...(parameters as never[])) as IterableIterator<unknown>,
          }
        },
      },
    }),
  })
}
