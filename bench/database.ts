import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { createSecrets } from '../server/lib/secrets/secrets.ts'
import { openStore } from '../server/store/connection/open.ts'
import { addAccount, addTokenWithKey } from '../test/helpers/accounts.ts'
import { newPostgresDatabase } from '../test/helpers/postgres.ts'
import { cpuSeconds } from './proc.ts'

/** The tables of the ledger that every call updates. */
const HOT_TABLES = ['users', 'tokens', 'channels', 'holds']
const ACCOUNTS = 100
const LOG_ROWS_PER_STATEMENT = 100_000
/** The secret that encrypts the tokens in a bench database. A gateway that uses the database needs the same secret. */
export const BENCH_SECRET_KEY = 'a secret key for measuring only'

/** What the database did during a measurement, according to its own counters. */
export interface DatabaseFigures {
  /** CPU time of the server; undefined if it runs on another machine or its data folder is not readable. */
  readonly cpuSeconds: number | undefined
  readonly walBytes: number
  /** Number of row updates in HOT_TABLES. `hotUpdates` of them needed no new index entry (PostgreSQL's HOT updates). */
  readonly updates: number
  readonly hotUpdates: number
  /** Size of HOT_TABLES in bytes, without their indexes. */
  readonly hotBytes: number
}

/** A PostgreSQL database that only one measured program uses. */
export interface BenchDatabase {
  readonly url: string
  /**
   * Adds a hundred users with one token each, and a log row for each of `calls` calls. Returns the keys of the tokens.
   * The gateway must have created the tables and its root user by then.
   */
  fill(calls: number): Promise<string[]>
  figures(): Promise<DatabaseFigures>
  close(): Promise<void>
}

/** Creates an empty database on the PostgreSQL of the tests, or on the server that TEST_POSTGRES_URL names. */
export async function newBenchDatabase(): Promise<BenchDatabase> {
  const database = await newPostgresDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const server = await serverPid(client)
  return {
    url: database.url,
    async fill(calls) {
      for (let from = 0; from < calls; from += LOG_ROWS_PER_STATEMENT) await addCalls(client, from, calls)
      const keys = await addAccounts(database.url)
      await client.query('vacuum analyze')
      return keys
    },
    figures: async () => ({
      cpuSeconds: server === undefined ? undefined : cpuSeconds(server),
      ...(await counters(client)),
    }),
    async close() {
      await client.end()
      await database.drop()
    },
  }
}

async function addAccounts(url: string): Promise<string[]> {
  const store = openStore({ url })
  try {
    const secrets = createSecrets(BENCH_SECRET_KEY)
    const keys: string[] = []
    for (let index = 0; index < ACCOUNTS; index++) {
      const { userId } = await addAccount(store, { user: 1e15 })
      const { token } = await store.write((trx) => addTokenWithKey(trx, secrets, userId, 1e15))
      keys.push(token)
    }
    // `addAccount` also adds channels, which have no key and no models. They are deleted.
    await store.write((trx) => trx.deleteFrom('channels').execute())
    return keys
  } finally {
    await store.close()
  }
}

/** Adds log rows of past calls. They cost nothing, so that the sum of the log still matches the balances. */
async function addCalls(client: pg.Client, from: number, calls: number): Promise<void> {
  await client.query(
    `insert into logs (user_id, created_at, type, username, token_name, model_name, prompt_tokens, completion_tokens,
       request_id, token_id, outcome)
     select 2 + n % ${ACCOUNTS}, extract(epoch from now())::bigint - ($2 - n) / 20, 2, 'user-' || n % ${ACCOUNTS}, 'test',
       'model-' || n % 20, 100, 50, md5(n::text), 2 + n % ${ACCOUNTS}, 'complete'
     from generate_series($1::bigint, least($1 + ${LOG_ROWS_PER_STATEMENT}, $2) - 1) n`,
    [from, calls],
  )
}

/** The server's main process, whose children do the work. */
async function serverPid(client: pg.Client): Promise<number | undefined> {
  try {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory')
    const [line] = readFileSync(join(rows[0]?.data_directory ?? '', 'postmaster.pid'), 'utf8').split('\n')
    return Number(line)
  } catch {
    return undefined
  }
}

async function counters(client: pg.Client): Promise<Omit<DatabaseFigures, 'cpuSeconds'>> {
  const { rows } = await client.query<Record<'wal' | 'updates' | 'hot' | 'bytes', string>>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal,
       coalesce(sum(n_tup_upd), 0) as updates, coalesce(sum(n_tup_hot_upd), 0) as hot,
       (select sum(pg_relation_size(name::regclass)) from unnest($1::text[]) name) as bytes
     from pg_stat_user_tables where relname = any($1)`,
    [HOT_TABLES],
  )
  const [row] = rows
  return {
    walBytes: Number(row?.wal ?? 0),
    updates: Number(row?.updates ?? 0),
    hotUpdates: Number(row?.hot ?? 0),
    hotBytes: Number(row?.bytes ?? 0),
  }
}

/** The server's version, and the settings that decide what a commit costs. */
export async function databaseVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const settings = ['server_version', 'shared_buffers', 'fsync', 'synchronous_commit', 'full_page_writes']
  const { rows } = await client.query<{ name: string; value: string }>(
    'select name, current_setting(name) as value from unnest($1::text[]) name',
    [settings],
  )
  await client.end()
  const [version, ...others] = rows
  return `${version?.value} (${others.map(({ name, value }) => `${name} ${value}`).join(', ')})`
}
