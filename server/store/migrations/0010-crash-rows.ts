import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { installLedger } from './ledger-function.ts'

/**
 * Adds to each hold the values for the log row of a call whose process dies: its channel, and the numbers of tokens for
 * which it is charged.
 */
export const crashRows: Migration = {
  name: '0010-crash-rows',
  async up(db, dialect) {
    for (const column of ['channel_id', 'prompt_tokens', 'completion_tokens'])
      await sql.raw(`alter table holds add column ${column} bigint not null default 0`).execute(db)
    if (dialect === 'postgres') await installLedger(db)
  },
}
