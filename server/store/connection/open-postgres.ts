import { setTimeout } from 'node:timers/promises'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { ledgerSettings, postgresLedger } from '../ledger/ledger-postgres.ts'
import type { Tables } from '../schema/tables.ts'
import { isDeadlock } from '../statements/database-errors.ts'
import { postgresNotices } from './notices-postgres.ts'
import type { OpenedStore, OpenOptions } from './open-options.ts'
import { type LimitedQuery, PatientPool } from './patient-postgres.ts'

/**
 * Connections that are not used for this long are closed. The time is long because even an idle process has scheduled
 * work every 5 and 10 seconds, and opening a connection costs more than all queries of a minute.
 */
const idleLimitMs = 60_000
/** A database that does not respond within these limits counts as failed. */
const limits = { connectLimitMs: 5_000, queryLimitMs: 120_000, idleTimeoutMillis: idleLimitMs, keepAlive: true }
const noLimit = { queryLimitMs: 0 }
const ledgerTimeoutMs = 10_000
const soonTimeoutMs = 5_000

/** Opens PostgreSQL with a pool, two connections for the ledger, and one connection that listens. */
export function openPostgres({ url, poolSize = 10, unlimited = false }: OpenOptions): OpenedStore {
  const options = {
    connectionString: url,
    ...limits,
    // The queries of this process are short and mostly run in memory. An index is therefore faster than reading a
    // table, and no query should use all cores.
    async onConnect(client: pg.ClientBase) {
      await client.query('set random_page_cost = 1.1; set max_parallel_workers_per_gather = 0').catch(() => undefined)
    },
  }
  const pool = new PatientPool({ ...options, max: poolSize, ...(unlimited && noLimit) })
  // This pool opens a new connection for each use, because it is used only once, at the start.
  const unlimitedPool = new PatientPool({ ...options, max: 1, maxUses: 1, ...noLimit })
  const ledgerPool = new PatientPool({
    connectionString: url,
    max: 2,
    ...limits,
    queryLimitMs: ledgerTimeoutMs,
    async onConnect(client: pg.ClientBase) {
      await client.query(ledgerSettings.map((setting) => `set ${setting}`).join('; ')).catch(() => undefined)
    },
  })
  // The pool replaces a broken connection, and the query running on it fails. Without listeners, these events would be
  // uncaught errors.
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
    // `writeSoon` uses the connections of the ledger, whose calls are short. The other connections may be busy with
    // long queries, and they may hang longer before they fail.
    async writeSoon(statement) {
      const { sql: text, parameters } = statement(db).compile()
      const query: LimitedQuery = { text, values: [...parameters], limitMs: soonTimeoutMs }
      await ledgerPool.query(query)
    },
    ledger: { ...ledger, apply: (ops) => untilUndisturbed(() => ledger.apply(ops)) },
    notices,
    async close() {
      await notices.close()
      await ledgerPool.end()
      await unlimitedDb.destroy()
      await db.destroy()
      // Destroying the query builder does not close a pool that was never used. Such a pool would still open a
      // connection for the next query.
      for (const each of [pool, unlimitedPool]) if (!each.ending) await each.end()
    },
  }
}

const mostBeginnings = 5
const longestRestMs = 50

/**
 * Repeats a transaction that the database aborted in favour of another one. Wherever possible, rows are locked in one
 * order to avoid this. In all other cases, a conflict with another transaction should not become an error for the
 * caller.
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
