import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Adds price lists that are read on a schedule: the source of a channel's prices, and the result of the last check.
 * Also adds, for channels that are being drained, the start of the drain, and the sessions that began after it and
 * would have been assigned to the channel without the drain.
 */
export const feedsAndDrains: Migration = {
  name: '0037-feeds-and-drains',
  async up(db) {
    const statements = [
      `alter table channels add column price_feed text not null default ''`,
      'alter table channels add column drained_at bigint not null default 0',
      `create table drain_sessions (channel_id bigint not null references channels (id) on delete cascade,
        session bigint not null, created_at bigint not null, primary key (channel_id, session))`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}
