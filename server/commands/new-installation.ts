import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootstrapRoot } from '../api/bootstrap.ts'
import type { CommandConfig } from '../config.ts'
import { isPostgresUrl } from '../lib/network/database-url.ts'
import { randomHex } from '../lib/secrets/ids.ts'
import { createSecrets } from '../lib/secrets/secrets.ts'
import { openStore } from '../store/connection/open.ts'
import { migrate } from '../store/migrations/migrate.ts'
import { contentsOf } from '../store/snapshot/contents.ts'
import type { Terminal } from './command.ts'
import { writeKeyFile } from './restored-key.ts'

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
 * standard error. For a dry run, an empty installation in a temporary folder is used instead.
 */
export async function installationFor(terminal: Terminal, { dryRun }: { dryRun: boolean }): Promise<Target> {
  const config = terminal.readConfig()
  if (await isThere(config))
    return { config, secretKey: terminal.readSecretKey(), discard: nothing, [Symbol.asyncDispose]: nothing }
  if (dryRun) return temporary(config)
  const secretKey = config.existingKey?.key ?? randomHex(32)
  if (!config.existingKey) writeKeyFile(config.keyFile, secretKey)
  if (!isPostgresUrl(config.databaseUrl)) mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const password = await create(config, secretKey).catch((error: unknown) => {
    // A part of a schema would look like an installation to the next run.
    removeFiles(config)
    throw error
  })
  const what = isPostgresUrl(config.databaseUrl) ? 'the database' : config.dataDir
  terminal.note(`There was no installation, so a new one was created in ${what}.`)
  if (password !== undefined)
    terminal.note(`Its super admin is root with the password ${password}, unless the import brings another password.`)
  return { config, secretKey, discard: () => discard(config, terminal), [Symbol.asyncDispose]: nothing }
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

/** Creates the tables and the super admin. Returns the password, unless it is set in the configuration. */
async function create(config: CommandConfig, secretKey: string): Promise<string | undefined> {
  const store = openStore({ url: config.databaseUrl, synchronous: config.sqliteSynchronous, unlimited: true })
  try {
    await migrate(store)
    return (await bootstrapRoot(store, createSecrets(secretKey), config)).generatedPassword
  } finally {
    await store.close()
  }
}

async function discard(config: CommandConfig, { note }: Terminal): Promise<void> {
  const { databaseUrl } = config
  if (isPostgresUrl(databaseUrl)) return
  const store = openStore({ url: databaseUrl })
  const imports = await store.read
    .selectFrom('imports')
    .select('id')
    .execute()
    .finally(() => store.close())
  if (imports.length > 0) return
  removeFiles(config)
  note('Nothing was imported, so the new installation was removed again.')
}

/** Deletes the files of an installation that this command created. A database on a server is not touched. */
function removeFiles({ databaseUrl, existingKey, keyFile }: CommandConfig): void {
  if (isPostgresUrl(databaseUrl)) return
  for (const file of [databaseUrl, `${databaseUrl}-wal`, `${databaseUrl}-shm`]) rmSync(file, { force: true })
  if (!existingKey) rmSync(keyFile, { force: true })
}
