import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** The progress of copying the log to external sinks. */
export const logSinks: Migration = {
  name: '0035-log-sinks',
  async up(db) {
    const int = 'bigint not null default 0'
    const text = "text not null default ''"
    await sql
      .raw(
        `create table log_sinks (name text primary key, sent_to ${int}, sent_rows ${int}, sent_at ${int}, lost_rows ${int},
          lost_at ${int}, error ${text}, failed_at ${int}, holder ${text}, held_until ${int})`,
      )
      .execute(db)
  },
}
