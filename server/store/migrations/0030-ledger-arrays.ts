import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { installLedger } from './ledger-function.ts'
import { ledgerOfBefore } from './ledger-of-before.ts'

/** The type of the log rows of calls. */
const consume = 2

/** Functions of earlier versions that are no longer called. */
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
 * Storage settings of the tables in which every call changes rows. Pages have free space, so that PostgreSQL can store
 * a new version of a row in the same page without new index entries, and can remove old versions at the next change.
 * Vacuum runs after a number of changes that depends little on the size of the table, because a row of a small table
 * can change a thousand times a second.
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

/**
 * From this version on, the functions of the ledger on PostgreSQL take arrays and write each row once per batch. The
 * storage settings keep its tables small. On both databases, caps of cost count what calls cost the operator.
 */
export const ledgerArrays: Migration = {
  name: '0030-ledger-arrays',
  async up(db, dialect) {
    await keepCostBooks(db)
    if (dialect !== 'postgres') return
    await installLedger(db)
    await sql.raw(ledgerOfBefore).execute(db)
    for (const each of former) await sql.raw(`drop function if exists ${each}`).execute(db)
    for (const [table, settings] of Object.entries(storage))
      await sql.raw(`alter table ${table} set (${settings}, autovacuum_vacuum_cost_delay = 0)`).execute(db)
  },
}

/**
 * Before this migration, caps of cost counted the charge of a call even if its cost was known. These counts are not
 * changed. The difference between them and the costs in the log rows is added to the cap's `unlogged` sum, so that the
 * counts can still be verified.
 */
async function keepCostBooks(db: Parameters<Migration['up']>[0]): Promise<void> {
  const { rows } = await sql<{ id: number; pattern: string | null; model: string; more: number }>`
    select c.id, c.pattern, l.model_name as model, cast(sum(l.quota - l.cost) as bigint) as more
    from caps c join logs l on l.channel_id = c.owner_id and l.id > c.first_log
    where c.metric = 'cost' and l.type = ${consume} and l.cost is not null
    group by c.id, c.pattern, l.model_name`.execute(db)
  for (const { id, pattern, model, more } of rows) {
    if (pattern !== null && !new RegExp(pattern).test(model)) continue
    await sql`update caps set unlogged = unlogged + ${Number(more)} where id = ${id}`.execute(db)
  }
}
