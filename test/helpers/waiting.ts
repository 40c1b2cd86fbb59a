import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Store } from '../../server/store/store.ts'

/**
 * Resolves when a transaction waits for a lock that another transaction holds. Resolves immediately on SQLite, where
 * all writes are queued.
 */
export async function untilOneWaits({ dialect, read }: Store): Promise<void> {
  if (dialect === 'sqlite') return
  const waits = sql`
    select 1 from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and wait_event_type = 'Lock'`
  while ((await waits.execute(read)).rows.length === 0) await setTimeout(5)
}
