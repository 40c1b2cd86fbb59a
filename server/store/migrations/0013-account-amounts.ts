import type { Migration } from '../migration.ts'

/**
 * From this migration on, the log rows of bonuses and of changes by admins store their amount in the column `quota`.
 * This migration alters nothing. The time at which it ran shows which rows are older and have no amount.
 */
export const accountAmounts: Migration = {
  name: '0013-account-amounts',
  async up() {},
}
