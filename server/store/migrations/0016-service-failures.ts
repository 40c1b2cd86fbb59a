import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Failures of the service by model and hour, for the status page. They are kept when the log rows of failed calls are
 * deleted. The migration counts the failures in the log rows that the hourly sums already contain; the rollup counts
 * later rows. The condition is the one that `usage/service-failures.ts` had when this migration was written.
 */
export const serviceFailures: Migration = {
  name: '0016-service-failures',
  async up(db) {
    const statements = [
      `create table service_failures (model_name text not null, slot bigint not null,
        failures bigint not null default 0, primary key (model_name, slot))`,
      'create index idx_service_failures_slot on service_failures (slot)',
      `insert into service_failures (model_name, slot, failures)
        select l.model_name, l.created_at / 3600, sum(1 + l.left_out) from logs l
        where l.type = 6 and l.id <= (select folded_to from usage_state) and l.id > 0
          and ((l.status >= 500 and l.status not in (501, 508))
            or (l.status in (401, 402, 403, 408, 429) and l.attempts <> ''))
        group by 1, 2`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}
