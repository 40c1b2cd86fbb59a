import { migrationNames } from '../migrations/migrate.ts'
import { tablePolicies } from './table-policy.ts'

/**
 * Returns a table that a database with these migrations must have but that is not among `tables`; undefined if there is
 * none. Always undefined if `migrations` are not those of this version, because other versions may have other tables.
 */
export function missingTable(migrations: readonly string[], tables: readonly string[]): string | undefined {
  const done = new Set(migrations)
  if (done.size !== migrationNames.length || !migrationNames.every((name) => done.has(name))) return undefined
  const known = new Set(tables)
  return Object.entries(tablePolicies).find(([table, policy]) => policy !== 'never' && !known.has(table))?.[0]
}
