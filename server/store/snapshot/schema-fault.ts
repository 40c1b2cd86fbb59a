import { sql } from 'kysely'
import { hasTable, isMigrated, migrationNames } from '../migrations/migrate.ts'
import type { Store } from '../store.ts'
import { tablePolicies } from './table-policy.ts'

/**
 * The reason why a command of this version must not use a database, as a sentence that says what to do. Either a newer
 * version has migrated the database, which may contain data that this version does not know, or a table is missing.
 * Undefined if there is no such reason, or if the database does not have all migrations of this version.
 */
export async function schemaFault(store: Store): Promise<string | undefined> {
  if (!(await isMigrated(store))) return undefined
  const done = await sql<{ name: string }>`select name from schema_migrations`.execute(store.read)
  const newer = done.rows.find(({ name }) => !migrationNames.includes(name))
  if (newer)
    return `The database was made by a newer version (it has migration ${newer.name}): run the command with that version. Nothing was changed.`
  for (const [table, policy] of Object.entries(tablePolicies))
    if (policy !== 'never' && !(await hasTable(store.read, store, table)))
      return `The database is damaged: it has no table ${table}. Restore a backup. Nothing was changed.`
  return undefined
}
