import { migrationNames } from '../migrations/migrate.ts'
import { tablePolicies } from './table-policy.ts'

/**
 * A table that is not among `tables` although a database with these migrations must have it; undefined if there is
 * none. Nothing is checked for databases of other versions, which may have other tables.
 */
export function missingTable(migrations: readonly string[], tables: readonly string[]): string | undefined {
  const done = new Set(migrations)
  if (done.size !== migrationNames.length || !migrationNames.every((name) => done.has(name))) return undefined
  const known = new Set(tables)
  return Object.entries(tablePolicies).find(([table, policy]) => policy !== 'never' && !known.has(table))?.[0]
}
