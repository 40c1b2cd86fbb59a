import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Temporary tokens from services, so that every node uses the same ones. */
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
