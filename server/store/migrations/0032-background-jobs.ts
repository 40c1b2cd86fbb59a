import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Adds the responses that an upstream generates in the background. The hold of such a call stays open until the
 * response is charged.
 */
export const backgroundJobs: Migration = {
  name: '0032-background-jobs',
  async up(db) {
    await sql`create table background_jobs (
      hold_id text primary key,
      user_id bigint not null,
      response_id text not null,
      channel_id bigint not null,
      key_hash text not null,
      model text not null,
      call text not null,
      created_at bigint not null,
      ends_at bigint not null,
      poll_at bigint not null,
      settle_until bigint not null,
      missing integer not null
    )`.execute(db)
    await sql`create index background_jobs_response on background_jobs (user_id, response_id)`.execute(db)
    await sql`create index background_jobs_poll on background_jobs (poll_at)`.execute(db)
  },
}
