import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** For each stored response or conversation of the Responses API, its channel and its user. */
export const storedResponses: Migration = {
  name: '0023-stored-responses',
  async up(db) {
    await sql`create table stored_responses (
      id text not null,
      user_id bigint not null,
      channel_id bigint not null,
      key_hash text not null,
      model text not null,
      created_at bigint not null,
      primary key (id, user_id)
    )`.execute(db)
    await sql`create index stored_responses_created on stored_responses (created_at)`.execute(db)
  },
}
