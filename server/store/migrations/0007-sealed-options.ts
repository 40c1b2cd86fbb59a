import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Marks the options that are stored encrypted. Options that are still in plain text are encrypted at the next start,
 * when the key is available.
 */
export const sealedOptions: Migration = {
  name: '0007-sealed-options',
  async up(db, dialect) {
    const no = dialect === 'postgres' ? 'false' : '0'
    await sql.raw(`alter table options add column sealed boolean not null default ${no}`).execute(db)
  },
}
