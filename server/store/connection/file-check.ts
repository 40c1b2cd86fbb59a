import { sql } from 'kysely'
import type { Store } from '../store.ts'

/**
 * The faults that SQLite finds when it checks its whole file, including the indexes. Always empty for PostgreSQL, which
 * has its own programs for this.
 */
export async function fileFaults({ dialect, read }: Store): Promise<string[]> {
  if (dialect !== 'sqlite') return []
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(100)`.execute(read)
  return rows.map(({ integrity_check: fault }) => fault).filter((fault) => fault !== 'ok')
}
