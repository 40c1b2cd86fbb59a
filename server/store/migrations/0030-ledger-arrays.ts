import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { installLedger } from './ledger-function.ts'
import { ledgerOfBefore } from './ledger-of-before.ts'

/** Functions of earlier versions that nothing calls any more. */
const former = [
  'tollgate_own_refusal(jsonb, boolean, bigint)',
  'tollgate_hold(jsonb, boolean, bigint)',
  'tollgate_take(jsonb, boolean, bigint)',
  'tollgate_settle_minute(jsonb, holds, bigint)',
  'tollgate_limit(jsonb, jsonb, bigint)',
  'tollgate_budget(jsonb, bigint)',
  'tollgate_minutes(jsonb, bigint)',
  'tollgate_wait(text, bigint, bigint, bigint, bigint)',
]

/**
 * Rows that every call changes get free space in their pages, so that their new versions need no index entries and old
 * versions are removed by the next change. Vacuum then depends on the number of changes and not on the size of the
 * table: one row that changes a thousand times a second is a small table.
 */
const storage = {
  users: 'fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000',
  tokens: 'fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000',
  channels: 'fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000',
  holds: 'fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000',
  limit_windows: 'fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000',
  cap_counts: 'fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000',
  cap_places: 'autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000',
  cap_waits: 'fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000',
  caps: 'fillfactor = 50',
}

/** The ledger on PostgreSQL takes arrays and writes each row once a batch, and its tables stay small. */
export const ledgerArrays: Migration = {
  name: '0030-ledger-arrays',
  async up(db, dialect) {
    if (dialect !== 'postgres') return
    await installLedger(db)
    await sql.raw(ledgerOfBefore).execute(db)
    for (const each of former) await sql.raw(`drop function if exists ${each}`).execute(db)
    for (const [table, settings] of Object.entries(storage))
      await sql.raw(`alter table ${table} set (${settings}, autovacuum_vacuum_cost_delay = 0)`).execute(db)
  },
}
