import type { Migration } from '../migration.ts'

/**
 * From here on, the log rows of bonuses and of changes by admins have their amount as quota. Nothing is altered: the
 * time at which this migration ran tells which rows have no amount yet.
 */
export const accountAmounts: Migration = {
  name: '0013-account-amounts',
  async up() {},
}
