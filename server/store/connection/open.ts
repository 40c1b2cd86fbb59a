import { Database } from 'bun:sqlite'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import pg from 'pg'
import { isPostgresUrl } from '../../lib/network/database-url.ts'
import { postgresLedger } from '../ledger/ledger-postgres.ts'
import { sqliteLedger } from '../ledger/ledger-sqlite.ts'
import type { Tables } from '../schema/tables.ts'
import { isDeadlock } from '../statements/database-errors.ts'
import { createWriteQueue } from '../statements/write-queue.ts'
import type { Store } from '../store.ts'
import { localNotices } from './notices-local.ts'
import { postgresNotices } from './notices-postgres.ts'
import { type LimitedQuery, PatientPool } from './patient-postgres.ts'

export interface OpenOptions {
  /** `postgres://…` or `postgresql://…`, or the path of a SQLite file. */
  url: string
  /** Connections of this process to PostgreSQL, the ledger's own not counted. */
  poolSize?: number
  /** SQLite's PRAGMA synchronous: NORMAL survives a killed process, FULL also a power failure. */
  synchronous?: 'NORMAL' | 'FULL'
  /** For a command, with somebody waiting at its terminal: PostgreSQL may take as long as it needs to answer. */
  unlimited?: boolean
}

/** A store as opened here. */
export interface OpenedStore extends Store {
  /** As `write`, without its time limit: for migrations, which process whole tables. */
  writeUnlimited?: Store['write']
}

/** Opens SQLite or PostgreSQL by the form of the URL; migrations are run separately by `migrate()`. */
export function openStore(options: OpenOptions): OpenedStore {
  return isPostgresUrl(options.url) ? openPostgres(options) : openSqlite(options)
}

/**
 * A single rollup of the usage has more queries than the runtime caches by default; it would prepare them all again
 * each time.
 */
const preparedStatements = 100

function openSqlite({ url, synchronous = 'NORMAL' }: OpenOptions): Store {
  mkdirSync(dirname(url), { recursive: true, mode: 0o700 })
  Database.MAX_QUERY_CACHE_SIZE = preparedStatements
  // Reads have their own connection, so that they never see a half-done write of the writer's open transaction.
  const writer = connectSqlite(url, synchronous)
  // The queue decides how long to wait for the lock, without blocking the process in the meantime.
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

/** Leaves a single file if possible; on a full disk the next start reads the write-ahead log. */
function tidy(writer: Database): void {
  try {
    writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Nothing is lost.
  }
}

function connectSqlite(url: string, synchronous: 'NORMAL' | 'FULL'): Database {
  try {
    // Created by us, so that nobody else may read it whatever the folder allows; the WAL inherits its mode.
    closeSync(openSync(url, 'a', 0o600))
    const database = new Database(url)
    database.run('PRAGMA busy_timeout = 10000')
    database.run('PRAGMA journal_mode = WAL')
    database.run(`PRAGMA synchronous = ${synchronous}`)
    database.run('PRAGMA foreign_keys = ON')
    return database
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
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
          // A deferred transaction that later writes can fail with SQLITE_BUSY at once; an immediate one waits its
          // turn.
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

/** A database that does not answer is a failure, not a wait. */
const limits = { connectLimitMs: 5_000, queryLimitMs: 120_000, keepAlive: true }
const noLimit = { queryLimitMs: 0 }
const ledgerTimeoutMs = 10_000
const soonTimeoutMs = 5_000

function openPostgres({ url, poolSize = 10, unlimited = false }: OpenOptions): OpenedStore {
  // PostgreSQL's bigint is wider than a JavaScript number; quotas and times stay far below 2^53.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  const options = {
    connectionString: url,
    ...limits,
    // Queries here are short and mostly in memory: an index beats reading a table, and no query should take all cores.
    async onConnect(client: pg.ClientBase) {
      await client.query('set random_page_cost = 1.1; set max_parallel_workers_per_gather = 0').catch(() => undefined)
    },
  }
  const pool = new PatientPool({ ...options, max: poolSize, ...(unlimited && noLimit) })
  // Reconnects for each use: there is only one, at the start.
  const unlimitedPool = new PatientPool({ ...options, max: 1, maxUses: 1, ...noLimit })
  const ledgerPool = new PatientPool({ connectionString: url, max: 2, ...limits, queryLimitMs: ledgerTimeoutMs })
  // The pool replaces a connection that breaks, and the query running on it fails. Without listeners these events would
  // be uncaught errors.
  for (const each of [pool, unlimitedPool, ledgerPool]) {
    each.on('error', () => undefined)
    each.on('connect', (client) => client.on('error', () => undefined))
  }
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const unlimitedDb = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: unlimitedPool }) })
  const ledger = postgresLedger(ledgerPool)
  const notices = postgresNotices(url, pool)
  return {
    dialect: 'postgres',
    read: db,
    write: (work) => untilUndisturbed(() => db.transaction().execute(work)),
    writeUnlimited: (work) => untilUndisturbed(() => unlimitedDb.transaction().execute(work)),
    // Shares the connection of the ledger's short calls: all others may be busy with long queries, or hang for longer.
    async writeSoon(statement) {
      const { sql: text, parameters } = statement(db).compile()
      const query: LimitedQuery = { text, values: [...parameters], limitMs: soonTimeoutMs }
      await ledgerPool.query(query)
    },
    ledger: { apply: (ops) => untilUndisturbed(() => ledger.apply(ops)) },
    notices,
    async close() {
      await notices.close()
      await ledgerPool.end()
      await unlimitedDb.destroy()
      await db.destroy()
      // Destroying a pool that was never used does not close it, and it would open at the next query.
      for (const each of [pool, unlimitedPool]) if (!each.ending) await each.end()
    },
  }
}

const mostBeginnings = 5
const longestRestMs = 50

/**
 * Repeats a transaction that the database ended in favour of another one. Rows are locked in one order wherever
 * possible; elsewhere nobody should get an error for a conflict with somebody else.
 */
async function untilUndisturbed<T>(transaction: () => Promise<T>): Promise<T> {
  for (let begun = 1; ; begun++) {
    try {
      return await transaction()
    } catch (error) {
      if (begun >= mostBeginnings || !isDeadlock(error)) throw error
      await setTimeout(Math.random() * longestRestMs * begun)
    }
  }
}
