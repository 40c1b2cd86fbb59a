import { sql } from 'kysely'
import type { Store } from '../store.ts'

/** The facts that a database reports about itself. */
export interface DatabaseFacts {
  version: string
  /** Its clock, in epoch milliseconds. */
  nowMs: number
  sizeBytes: number
  /** Settings that determine whether committed data survives a power cut and whether the database stays fast. */
  settings: Readonly<Record<string, string>>
}

const postgresSettings = ['fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum', 'track_counts'] as const

export async function databaseFacts({ dialect, read }: Store): Promise<DatabaseFacts> {
  if (dialect === 'sqlite') {
    const one = async (statement: ReturnType<typeof sql>) =>
      String(Object.values(((await statement.execute(read)).rows[0] ?? {}) as object)[0] ?? '')
    const [pages, pageSize] = [await one(sql`pragma page_count`), await one(sql`pragma page_size`)]
    return {
      version: await one(sql`select sqlite_version()`),
      nowMs: Number(await one(sql`select cast((julianday('now') - 2440587.5) * 86400000 as integer)`)),
      sizeBytes: Number(pages) * Number(pageSize),
      settings: { journal_mode: await one(sql`pragma journal_mode`) },
    }
  }
  const { rows } = await sql<{ version: string; now: string; size: string }>`
    select current_setting('server_version') as version, extract(epoch from clock_timestamp()) * 1000 as now,
      pg_database_size(current_database()) as size`.execute(read)
  const { rows: settings } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings where name in (${sql.join([...postgresSettings])})`.execute(read)
  return {
    version: rows[0]?.version ?? '',
    nowMs: Number(rows[0]?.now ?? 0),
    sizeBytes: Number(rows[0]?.size ?? 0),
    settings: Object.fromEntries(settings.map(({ name, setting }) => [name, setting])),
  }
}

/** The times, in milliseconds, for committing transactions that change one row. No data is changed. */
export async function commitTimes(store: Store, count: number): Promise<number[]> {
  const times: number[] = []
  for (let run = 0; run < count; run++) {
    const start = performance.now()
    await store.write((trx) => sql`update options set value = value where "key" = '_secret_check'`.execute(trx))
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)
}
