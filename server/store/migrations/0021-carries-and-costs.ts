import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { installLedger } from './ledger-function.ts'

/**
 * Adds the settings that a channel applies to its calls, the prices of its upstream, and the upstream cost of each
 * call, which is null if it is not known. The usage sums get two more columns: `cost` is the sum of the known costs,
 * and `margin` the charges of the same calls minus these costs.
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
