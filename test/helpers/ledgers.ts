import { afterAll, describe } from 'bun:test'
import pg from 'pg'
import { openStore } from '../../server/store/connection/open.ts'
import { ledgerSettings, postgresLedger } from '../../server/store/ledger/ledger-postgres.ts'
import type { LedgerResult, LedgerStore } from '../../server/store/schema/ledger-types.ts'
import type { Store } from '../../server/store/store.ts'
import { type DatabaseSuite, forEachDatabase } from './databases.ts'
import { postgresMissing } from './postgres.ts'
import { newMigratedPostgresDatabase } from './templates.ts'

/**
 * Runs the suite with each of four ledgers:
 * - SQLite's
 * - PostgreSQL's, as the product uses it
 * - PostgreSQL's, with every batch passed to the function that decides one operation after the other
 * - the function that older versions call
 */
export function forEachLedger(suite: DatabaseSuite): void {
  forEachDatabase(suite)
  if (postgresMissing !== undefined) return
  const others: [name: string, ledgerOf: (pool: pg.Pool) => LedgerStore][] = [
    ['every batch by tollgate_batch', (pool) => postgresLedger(pool, { triesSimple: false })],
    ['the function of older versions', olderLedger],
  ]
  for (const [title, ledgerOf] of others) {
    describe(title, () => {
      const opened: { close(): Promise<void> }[] = []
      suite('postgres', async () => {
        const database = await newMigratedPostgresDatabase()
        const store = openStore({ url: database.url })
        const pool = new pg.Pool({ connectionString: database.url, max: 2, onConnect: setUp } as pg.PoolConfig)
        // The database may be deleted before the server has closed the connections, so connection errors are ignored.
        pool.on('error', () => undefined)
        pool.on('connect', (client) => client.on('error', () => undefined))
        const close = once(async () => {
          await pool.end()
          await store.close()
        })
        opened.push({
          async close() {
            await close()
            await database.drop()
          },
        })
        return { ...store, ledger: ledgerOf(pool), close } satisfies Store
      })
      afterAll(async () => {
        for (const each of opened) await each.close()
      }, 60_000)
    })
  }
}

async function setUp(client: pg.ClientBase): Promise<void> {
  await client.query(ledgerSettings.map((setting) => `set ${setting}`).join('; '))
}

function olderLedger(pool: pg.Pool): LedgerStore {
  return {
    async apply(ops) {
      // Older versions never passed NUL or an unpaired surrogate to these functions, so such characters are removed.
      const clean = JSON.stringify(ops, (_key, value: unknown) =>
        typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
      )
      const answer = await pool.query<{ results: LedgerResult[] }>('select tollgate_ledger($1::jsonb) as results', [
        clean,
      ])
      return answer.rows[0]?.results ?? []
    },
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}
