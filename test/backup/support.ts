import { Database } from 'bun:sqlite'
import pg from 'pg'
import { isPostgresUrl } from '../../server/lib/network/database-url.ts'
import { tableNames } from '../../server/store/snapshot/table-policy.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'

export const passphrase = 'a long passphrase of a test'
/** What an installation needs to encrypt and decrypt backups. */
export const withPassphrase = { TOLLGATE_BACKUP_PASSPHRASE: passphrase }

/** The kinds of database that a test can restore into. */
export const targets: readonly ('sqlite' | 'postgres')[] =
  postgresMissing === undefined ? ['sqlite', 'postgres'] : ['sqlite']

/** The URL of an empty database of this kind: undefined for SQLite, which an `Installation` makes itself. */
export async function emptyUrl(kind: 'sqlite' | 'postgres'): Promise<string | undefined> {
  return kind === 'postgres' ? (await newPostgresDatabase()).url : undefined
}

/** All rows of all tables, except those of running processes, as sorted JSON. Booleans are 0 and 1, as in SQLite. */
export async function allRowsOf(
  databaseUrl: string,
  without: readonly string[] = [],
): Promise<Record<string, string[]>> {
  const names = tableNames.filter((name) => name !== 'nodes' && !without.includes(name))
  const read = isPostgresUrl(databaseUrl) ? await postgresReader(databaseUrl) : sqliteReader(databaseUrl)
  const found: Record<string, string[]> = {}
  try {
    for (const name of names) found[name] = (await read.rows(name)).map(plain).toSorted()
  } finally {
    await read.close()
  }
  return found
}

/**
 * The row with its columns sorted by name, because each of the two databases lists them in the order in which they were
 * added.
 */
function plain(row: Record<string, unknown>): string {
  const entries = Object.entries(row).map(([name, value]) => [name, typeof value === 'boolean' ? Number(value) : value])
  return JSON.stringify(entries.toSorted(([a], [b]) => String(a).localeCompare(String(b))))
}

interface Reader {
  rows(table: string): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

function sqliteReader(path: string): Reader {
  const database = new Database(path, { readwrite: true, create: false })
  return {
    rows: async (table) => database.query(`select * from "${table}"`).all() as Record<string, unknown>[],
    close: async () => database.close(),
  }
}

async function postgresReader(url: string): Promise<Reader> {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    rows: async (table) => (await client.query(`select * from "${table}"`)).rows as Record<string, unknown>[],
    close: () => client.end(),
  }
}
