import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { installLedger } from './ledger-function.ts'

/**
 * What a channel carries besides its key, what its upstream charges, and what each call cost upstream. A call whose cost
 * is unknown has null; the sums add up the costs that are known, and what was
 * charged for these calls less their cost.
 */
export const carriesAndCosts: Migration = {
  name: '0021-carries-and-costs',
  async up(db, dialect) {
    const texts = [
      'tags',
      'remark',
      'test_model',
      'organization',
      'project',
      'headers',
      'parameters',
      'status_map',
      'proxy',
      'proxy_login',
      'costs',
    ]
    const summed = ['usage_series', 'usage_hours', 'usage_days', 'usage_weeks', 'usage_fold', 'usage_part']
    const statements = [
      ...texts.map((name) => `alter table channels add column ${name} text not null default ''`),
      'alter table logs add column cost bigint',
      ...summed.flatMap((table) =>
        ['cost', 'margin'].map((name) => `alter table ${table} add column ${name} bigint not null default 0`),
      ),
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
    if (dialect === 'postgres') await installLedger(db)
  },
}
