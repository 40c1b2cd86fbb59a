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
  /** SQLite's PRAGMA synchronous: NORMAL survives a killed process, FULL also a power cut. */
  synchronous?: 'NORMAL' | 'FULL'
  /** For a command, at whose terminal somebody waits: PostgreSQL may take as long as it needs to answer. */
  unlimited?: boolean
}

/** A store as it is opened. */
export interface OpenedStore extends Store {
  /** As `write`, where that has a limit of time: for migrations, which go through whole tables. */
  writeUnlimited?: Store['write']
}

/** Opens SQLite or PostgreSQL by the form of the URL; migrations are run separately by `migrate()`. */
export function openStore(options: OpenOptions): OpenedStore {
  return isPostgresUrl(options.url) ? openPostgres(options) : openSqlite(options)
}

/** One count of the usage alone has more questions than the runtime keeps by itself, and would prepare them all anew. */
const preparedStatements = 100

function openSqlite({ url, synchronous = 'NORMAL' }: OpenOptions): Store {
  mkdirSync(dirname(url), { recursive: true, mode: 0o700 })
  Database.MAX_QUERY_CACHE_SIZE = preparedStatements
  // Reads have a connection of their own, so that they never see a half-done write of the writer's open transaction.
  const writer = connectSqlite(url, synchronous)
  // How long the lock is waited for is the queue's to say, which does not stop the process meanwhile.
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

/** Leaves one file where that can be; on a full disk the next start reads the write-ahead log. */
function tidy(writer: Database): void {
  try {
    writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Nothing is lost by it.
  }
}

function connectSqlite(url: string, synchronous: 'NORMAL' | 'FULL'): Database {
  try {
    // Made by us, so that nobody else may read it, whatever the folder allows; the WAL takes its mode over.
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
          // A full disk has ended the transaction already; to end it again would hide what happened.
          if (sql === 'rollback' && !database.inTransaction) return nothing
          // A deferred transaction that later writes can fail with SQLITE_BUSY at once; an immediate one waits its turn.
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
    // What is read here is short and mostly in memory: an index beats reading a table, and no question takes all cores.
    async onConnect(client: pg.ClientBase) {
      await client.query('set random_page_cost = 1.1; set max_parallel_workers_per_gather = 0').catch(() => undefined)
    },
  }
  const pool = new PatientPool({ ...options, max: poolSize, ...(unlimited && noLimit) })
  // Connects for each use anew: there is one, at the start.
  const unlimitedPool = new PatientPool({ ...options, max: 1, maxUses: 1, ...noLimit })
  const ledgerPool = new PatientPool({ connectionString: url, max: 2, ...limits, queryLimitMs: ledgerTimeoutMs })
  // A connection that breaks is replaced by the pool, and what was asked on it fails; without listeners the events would
  // be faults that nobody catches.
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
    // Beside the ledger's short calls: the other connections may all be in long questions, or hang for longer.
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
      // What was never used is not closed by its destruction, and would open with the next question.
      for (const each of [pool, unlimitedPool]) if (!each.ending) await each.end()
    },
  }
}

const mostBeginnings = 5
const longestRestMs = 50

/**
 * Begins a transaction anew that the database ended for the sake of another one. Rows are locked in one order wherever
 * that is possible; where it is not, nobody should get a failure for having met somebody else.
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
