import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Marks which options are stored sealed; those that were plain until now are sealed at the next start, which has the key. */
export const sealedOptions: Migration = {
  name: '0007-sealed-options',
  async up(db, dialect) {
    const no = dialect === 'postgres' ? 'false' : '0'
    await sql.raw(`alter table options add column sealed boolean not null default ${no}`).execute(db)
  },
}
