import { sql } from 'kysely'
import type { Migration } from '../migration.ts'

const figures = [
  'requests',
  'quota',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'failed',
  'elapsed_time',
  'first_byte_time',
  'first_byte_count',
]

const sums = (columns: readonly string[]) => columns.map((name) => `cast(sum(u.${name}) as bigint) as ${name}`)

/**
 * Statements that create series of the kind `kind`, and their sums, from the series of the kind `from`, which has more
 * dimensions.
 */
function copied(kind: string, from: string, columns: readonly string[]): string[] {
  const equal = columns.map((name) => `n.${name} = s.${name}`).join(' and ')
  const into = (table: string, key: readonly string[], places: Readonly<Record<string, string>> = {}) => {
    const keys = key.map((name) => `u.${name}`)
    return `
      insert into ${table} (series_id, ${[...key, ...figures, ...Object.keys(places)].join(', ')})
      select n.id, ${[...keys, ...sums(figures), ...Object.values(places)].join(', ')}
      from usage_series s join usage_series n on ${equal} join ${table} u on u.series_id = s.id
      where s.kind = '${from}' and n.kind = '${kind}' group by ${['n.id', ...keys].join(', ')}
      order by ${['n.id', ...keys].join(', ')}`
  }
  return [
    `insert into usage_series (kind, ${columns.join(', ')})
      select distinct '${kind}', ${columns.join(', ')} from usage_series where kind = '${from}'`,
    into('usage_hours', ['day', 'slot'], {
      log_rows: 'sum(u.log_rows)',
      first_id: 'min(u.first_id)',
      last_id: 'max(u.last_id)',
    }),
    into('usage_days', ['slot']),
    into('usage_weeks', ['slot']),
  ]
}

/**
 * Adds the totals of each series over all days that have been summed up. Also adds series of users, and of users by
 * model, which do not distinguish tokens and channels. All figures are calculated from the existing sums. See
 * docs/decisions/0037.
 */
export const usageInAll: Migration = {
  name: '0009-usage-in-all',
  async up(db) {
    const statements = [
      ...figures.map((name) => `alter table usage_series add column ${name} bigint not null default 0`),
      'alter table usage_state add column first_slot bigint',
      ...copied('user', 'token', ['type', 'user_id', 'username']),
      ...copied('user_model', 'call', ['type', 'user_id', 'username', 'model_name']),
      `update usage_series set ${figures.map((name) => `${name} = found.${name}`).join(', ')}
        from (select series_id, ${sums(figures).join(', ')} from usage_days u group by series_id) found
        where usage_series.id = found.series_id`,
      'update usage_state set first_slot = (select min(slot) from usage_hours)',
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}
