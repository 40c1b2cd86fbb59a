import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { installLedger } from './ledger-function.ts'

/**
 * Adds a column to the log which records whether a call was served by the same channel and key as the earlier calls of
 * its session.
 */
export const keptPlaces: Migration = {
  name: '0022-kept-places',
  async up(db, dialect) {
    await sql`alter table logs add column kept_place boolean`.execute(db)
    if (dialect === 'postgres') await installLedger(db)
  },
}
