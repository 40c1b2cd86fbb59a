import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Indexes of the calls that people look for: failed, retried and estimated calls. An ordinary call is in none of them,
 * so writing it does not cost more. The conditions are those in `logs/log-outcome.ts`.
 */
export const logOutcomes: Migration = {
  name: '0012-log-outcomes',
  async up(db) {
    const conditions = {
      failed: "type = 6 or (type = 2 and outcome in ('failed', 'interrupted'))",
      retried: "attempts <> ''",
      estimated: 'estimated = true',
    }
    for (const [name, condition] of Object.entries(conditions))
      await sql.raw(`create index idx_logs_${name} on logs (id) where ${condition}`).execute(db)
  },
}
