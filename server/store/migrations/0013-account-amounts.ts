import type { Migration } from '../migration.ts'

/**
 * From this migration on, the log rows of bonuses and of changes by admins store their amount in the column `quota`.
 * This migration changes nothing in the schema. The time at which it ran is recorded, and rows that are older than this
 * time have no amount.
 */
export const accountAmounts: Migration = {
  name: '0013-account-amounts',
  async up() {},
}
