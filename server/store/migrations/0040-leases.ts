import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { leaseFunctions } from './lease-functions.ts'
import { installLedger } from './ledger-function.ts'

/**
 * Adds leases, which are parts of balances that processes have taken in advance. Every batch changes rows of this
 * table. Its pages therefore have free space, and no index contains a column that changes. On SQLite the table is
 * always empty.
 */
export const leases: Migration = {
  name: '0040-leases',
  async up(db, dialect) {
    await sql
      .raw(
        `create table leases (id text primary key, node_id text not null, user_id bigint not null, token_id bigint not null,
          token_limited boolean not null, amount bigint not null, version bigint not null, created_at bigint not null)`,
      )
      .execute(db)
    await sql.raw('create index idx_leases_user on leases (user_id)').execute(db)
    if (dialect !== 'postgres') return
    await sql
      .raw(
        `alter table leases add check (amount >= 0), set (fillfactor = 20, autovacuum_vacuum_scale_factor = 0,
          autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0)`,
      )
      .execute(db)
    await installLedger(db)
    for (const text of leaseFunctions) await sql.raw(text).execute(db)
  },
}
