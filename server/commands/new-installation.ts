import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bootstrapRoot } from '../api/bootstrap.ts'
import type { CommandConfig } from '../config.ts'
import { isPostgresUrl } from '../lib/network/database-url.ts'
import { randomHex } from '../lib/secrets/ids.ts'
import { createSecrets } from '../lib/secrets/secrets.ts'
import { claimDatabase } from '../store/connection/lock-sqlite.ts'
import { openStore } from '../store/connection/open.ts'
import { migrate } from '../store/migrations/migrate.ts'
import { contentsOf } from '../store/snapshot/contents.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from './command.ts'
import { writeDurably, writeKeyFile } from './restored-key.ts'
import { claimFor } from './running-servers.ts'

/** The installation into which data is imported. */
export interface Target extends AsyncDisposable {
  config: CommandConfig
  secretKey: string
  /**
   * Called after an error. If the installation was just created and nothing was imported into it, deletes its files.
   */
  discard(): Promise<void>
}

const nothing = async () => {}

/**
 * The configured installation. If there is none, it is created, and the password of its super admin is written to
 * standard error. For a dry run, an empty installation in a temporary folder is used instead. Throws CommandFailed if
 * a server or another command is creating the installation.
 */
export async function installationFor(terminal: Terminal, { dryRun }: { dryRun: boolean }): Promise<Target> {
  const config = terminal.readConfig()
  if (await isThere(config)) return existing(config, terminal)
  if (dryRun) return temporary(config)
  if (!isPostgresUrl(config.databaseUrl)) mkdirSync(dirname(config.databaseUrl), { recursive: true, mode: 0o700 })
  const claim = await claimFor(config.databaseUrl, 'import')
  try {
    // A server or another command may have created the key or the whole installation before the claim.
    const claimed = terminal.readConfig()
    return (await isThere(claimed)) ? existing(claimed, terminal) : await created(claimed, terminal)
  } finally {
    claim.release()
  }
}

function existing(config: CommandConfig, terminal: Terminal): Target {
  return { config, secretKey: terminal.readSecretKey(), discard: nothing, [Symbol.asyncDispose]: nothing }
}

/** Creates the installation. With SQLite, the caller must have claimed the database. */
async function created(config: CommandConfig, terminal: Terminal): Promise<Target> {
  const secretKey = config.existingKey?.key ?? newKey(config.keyFile)
  const { password, rows } = await create(config, secretKey).catch((error: unknown) => {
    // A part of a schema would look like an installation to the next run.
    removeDatabase(config)
    throw error
  })
  const what = isPostgresUrl(config.databaseUrl) ? 'the database' : config.dataDir
  terminal.note(`There was no installation, so a new one was created in ${what}.`)
  if (password !== undefined)
    terminal.note(`Its super admin is root with the password ${password}, unless the import brings another password.`)
  return { config, secretKey, discard: () => discard(config, rows, terminal), [Symbol.asyncDispose]: nothing }
}

/**
 * Writes a new secret key and returns it. Throws an error if another process has just written one. The file is never
 * removed, because a server that starts now may already have read it. The next run uses it.
 */
function newKey(file: string): string {
  const key = randomHex(32)
  // An existing file contains no key, or one that cannot be read, so it is kept under another name.
  if (existsSync(file)) writeKeyFile(file, key)
  else {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeDurably(file, `${key}\n`, 'wx')
  }
  return key
}

/**
 * Whether the database already has content. The tables of another program count, too, because they must not be touched.
 */
async function isThere({ databaseUrl }: CommandConfig): Promise<boolean> {
  if (!isPostgresUrl(databaseUrl)) return existsSync(databaseUrl) && statSync(databaseUrl).size > 0
  const store = openStore({ url: databaseUrl })
  try {
    const contents = await contentsOf(store)
    return contents === 'installation' || contents === 'foreign'
  } finally {
    await store.close()
  }
}

async function temporary(config: CommandConfig): Promise<Target> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-dry-run-'))
  const secretKey = randomHex(32)
  const empty = { ...config, dataDir, databaseUrl: join(dataDir, 'tollgate.db') }
  await create(empty, secretKey)
  return {
    config: empty,
    secretKey,
    discard: nothing,
    [Symbol.asyncDispose]: async () => rmSync(dataDir, { recursive: true, force: true }),
  }
}

/** The state of an installation that was just created. */
interface Created {
  /** The password of the super admin; undefined if it is set in the configuration. */
  password: string | undefined
  rows: string
}

/** Creates the tables and the super admin. */
async function create(config: CommandConfig, secretKey: string): Promise<Created> {
  const store = openStore({ url: config.databaseUrl, synchronous: config.sqliteSynchronous, unlimited: true })
  try {
    await migrate(store)
    const { generatedPassword } = await bootstrapRoot(store, createSecrets(secretKey), config)
    return { password: generatedPassword, rows: await rowCounts(store) }
  } finally {
    await store.close()
  }
}

/** Numbers of rows. At least one of them changes when somebody logs in, calls, or changes something. */
async function rowCounts({ read }: Store): Promise<string> {
  const tables = ['users', 'sessions', 'tokens', 'channels', 'options', 'logs', 'imports'] as const
  const counts = tables.map((table) =>
    read
      .selectFrom(table)
      .select((of) => of.fn.countAll().as('rows'))
      .execute(),
  )
  return JSON.stringify(await Promise.all(counts))
}

/** Deletes the database again, unless a server is running on it or it has other rows than those it was created with. */
async function discard(config: CommandConfig, rows: string, { note }: Terminal): Promise<void> {
  const { databaseUrl } = config
  if (isPostgresUrl(databaseUrl)) return
  const claim = await claimDatabase(databaseUrl, 0).catch(() => undefined)
  if (!claim) return
  try {
    const store = openStore({ url: databaseUrl })
    if ((await rowCounts(store).finally(() => store.close())) !== rows) return
    removeDatabase(config)
    note('Nothing was imported, so the new installation was removed again.')
  } finally {
    claim.release()
  }
}

/**
 * Deletes the SQLite database that this command created. The caller must have claimed it. A database on a server is not
 * touched.
 */
function removeDatabase({ databaseUrl }: CommandConfig): void {
  if (isPostgresUrl(databaseUrl)) return
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(databaseUrl + end, { force: true })
}
