import { sql } from 'kysely'
import type { Store } from '../store.ts'

/** What SQLite finds wrong with its file when it looks at all of it, indexes included; PostgreSQL has its own programs for that. */
export async function fileFaults({ dialect, read }: Store): Promise<string[]> {
  if (dialect !== 'sqlite') return []
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(100)`.execute(read)
  return rows.map(({ integrity_check: fault }) => fault).filter((fault) => fault !== 'ok')
}
