import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Redemption codes can expire (0 = never), and are listed by batch: codes with the same name. */
export const codeExpiry: Migration = {
  name: '0041-code-expiry',
  async up(db) {
    await sql.raw('alter table redemptions add column expired_time bigint not null default 0').execute(db)
    await sql.raw('create index idx_redemptions_name on redemptions (name)').execute(db)
  },
}
