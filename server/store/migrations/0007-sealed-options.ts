import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/**
 * Adds a flag for options that are stored encrypted. Options in plain text are encrypted when the server next starts
 * with a secret key.
 */
export const sealedOptions: Migration = {
  name: '0007-sealed-options',
  async up(db, dialect) {
    const no = dialect === 'postgres' ? 'false' : '0'
    await sql.raw(`alter table options add column sealed boolean not null default ${no}`).execute(db)
  },
}
