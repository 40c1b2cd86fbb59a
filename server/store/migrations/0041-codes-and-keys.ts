import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Adds the times at which redemption codes expire (0 = never), and an index for lists of codes by name. Also adds the
 * old key of a token that got a new key, and the time until which the old key is valid.
 */
export const codesAndKeys: Migration = {
  name: '0041-codes-and-keys',
  async up(db) {
    const statements = [
      'alter table redemptions add column expired_time bigint not null default 0',
      'create index idx_redemptions_name on redemptions (name)',
      "alter table tokens add column old_key text not null default ''",
      'alter table tokens add column old_key_hash text',
      'alter table tokens add column old_key_until bigint not null default 0',
      'create unique index idx_tokens_old_key on tokens (old_key_hash)',
    ]
    for (const text of statements) await sql.raw(text).execute(db)
  },
}
