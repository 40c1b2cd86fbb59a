import { existsSync } from 'node:fs'
import type { CommandConfig } from '../config.ts'
import { isPostgresUrl } from '../lib/network/database-url.ts'
import { createSecrets, type Secrets } from '../lib/secrets/secrets.ts'
import { openStore } from '../store/connection/open.ts'
import type { OpenedStore } from '../store/connection/open-options.ts'
import { secretCheck } from '../store/installation/installation.ts'
import { isMigrated } from '../store/migrations/migrate.ts'
import { schemaFault } from '../store/snapshot/schema-fault.ts'
import type { Store } from '../store/store.ts'

/**
 * Throws if the database file does not exist. This is checked because opening a SQLite database would create it, and a
 * command must not create one.
 */
export function requireDatabase({ databaseUrl }: CommandConfig): void {
  if (!isPostgresUrl(databaseUrl) && !existsSync(databaseUrl))
    throw new Error(`There is no installation: ${databaseUrl} does not exist. Check DATA_DIR and DATABASE_URL.`)
}

/**
 * Opens the database of an existing installation, with or without a running server, and closes it afterwards. If there
 * is no installation that this version can work with, throws an error whose message is a sentence for the operator.
 */
export async function withStore<T>(config: CommandConfig, work: (store: OpenedStore) => Promise<T>): Promise<T> {
  requireDatabase(config)
  const store = openStore({ url: config.databaseUrl, synchronous: config.sqliteSynchronous, unlimited: true })
  try {
    if (!(await isMigrated(store)))
      throw new Error('The database contains no installation, or one that this version has not been started on yet.')
    const fault = await schemaFault(store)
    if (fault !== undefined) throw new Error(fault)
    return await work(store)
  } finally {
    await store.close()
  }
}

/** The secrets of an installation. Throws if its data was encrypted with another key. */
export async function secretsOf({ read }: Store, key: string): Promise<Secrets> {
  const secrets = createSecrets(key)
  const expected = await secretCheck(read)
  if (expected !== undefined && expected !== secrets.fingerprint('check', 'check'))
    throw new Error(
      'The secret key does not belong to this installation. Set SECRET_KEY, or the file secret.key in DATA_DIR, to the key that the server uses.',
    )
  return secrets
}
