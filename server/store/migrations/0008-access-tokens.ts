import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Adds the temporary tokens that upstreams and other services issue. They are stored so that all nodes share them. */
export const accessTokens: Migration = {
  name: '0008-access-tokens',
  async up(db) {
    await sql`create table access_tokens (
      name_hash text primary key,
      value text not null,
      expires_time bigint not null
    )`.execute(db)
  },
}
