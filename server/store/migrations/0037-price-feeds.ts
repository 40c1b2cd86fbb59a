import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Price lists that are read on a schedule: where a channel's prices come from, and the result of the last check. */
export const priceFeeds: Migration = {
  name: '0037-price-feeds',
  async up(db) {
    await sql.raw(`alter table channels add column price_feed text not null default ''`).execute(db)
  },
}
