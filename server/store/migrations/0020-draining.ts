import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Adds a flag for channels that are being drained, which accept no new sessions. */
export const draining: Migration = {
  name: '0020-draining',
  async up(db) {
    await sql`alter table channels add column draining boolean not null default false`.execute(db)
  },
}
