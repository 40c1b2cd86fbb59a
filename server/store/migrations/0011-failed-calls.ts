import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { installLedger } from './ledger-function.ts'

/**
 * Adds log rows of failed calls, the failed attempts of each channel, and the reasons for which the gateway changed the
 * status of a channel.
 */
export const failedCalls: Migration = {
  name: '0011-failed-calls',
  async up(db, dialect) {
    const int = 'bigint not null default 0'
    const text = "text not null default ''"
    const add = (table: string, column: string, type: string) => `alter table ${table} add column ${column} ${type}`
    const statements = [
      ...['asked_model', 'endpoint', 'code', 'upstream_message'].map((column) => add('logs', column, text)),
      ...['status', 'left_out', 'left_out_since'].map((column) => add('logs', column, int)),
      add('channels', 'status_reason', text),
      add('channels', 'status_time', int),
      `create table error_minutes (token_id bigint not null, code text not null, minute ${int}, log_rows ${int},
        summed_at ${int}, primary key (token_id, code))`,
      `create table channel_failures (channel_id bigint not null references channels (id) on delete cascade,
        model_name text not null, slot bigint not null, attempts ${int}, primary key (channel_id, model_name, slot))`,
      'create index idx_channel_failures_slot on channel_failures (slot)',
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
    if (dialect === 'postgres') await installLedger(db)
  },
}
