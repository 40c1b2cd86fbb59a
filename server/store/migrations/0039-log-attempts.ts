import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** The rows that an attempt to copy the log sent, so that the attempt can be repeated exactly. */
export const logAttempts: Migration = {
  name: '0039-log-attempts',
  async up(db) {
    await sql.raw('alter table log_sinks add column sending_to bigint not null default 0').execute(db)
  },
}
