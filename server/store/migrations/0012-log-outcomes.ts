import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Adds partial indexes of the log rows that people search for: failed, retried and estimated calls. Other calls are in
 * none of them, so they do not slow down writing these. `logs/log-outcome.ts` has the same conditions.
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
