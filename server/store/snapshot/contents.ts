import { hasTable } from '../migrations/migrate.ts'
import type { Store } from '../store.ts'

/**
 * The contents of a database: nothing, an installation without accounts, an installation with accounts, or tables of
 * another program that have the same names as ours.
 */
export type Contents = 'nothing' | 'unused' | 'installation' | 'foreign'

export async function contentsOf(store: Store): Promise<Contents> {
  const hasUsers = await hasTable(store.read, store, 'users')
  if (!(await hasTable(store.read, store, 'schema_migrations'))) return hasUsers ? 'foreign' : 'nothing'
  if (!hasUsers) return 'unused'
  const user = await store.read.selectFrom('users').select('id').limit(1).executeTakeFirst()
  return user === undefined ? 'unused' : 'installation'
}
