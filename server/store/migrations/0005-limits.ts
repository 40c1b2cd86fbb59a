import { sql } from 'kysely'
import type { Migration } from '../migration.ts'
import { installLedger } from './ledger-function.ts'

const limitColumns = ['rpm_limit', 'tpm_limit', 'concurrency_limit', 'daily_budget', 'monthly_budget']
const spentColumns = ['spent_today', 'spent_month', 'spent_at']

/**
 * Adds the limits of tokens and users, the amounts charged to them in the current day and month, and their usage in the
 * last minute.
 */
export const limits: Migration = {
  name: '0005-limits',
  async up(db, dialect) {
    const pg = dialect === 'postgres'
    const int = 'bigint not null default 0'
    const add = (table: string, columns: string[]) =>
      columns.map((column) => `alter table ${table} add column ${column} ${int}`)
    const statements = [
      ...add('users', [...limitColumns, ...spentColumns]),
      ...add('tokens', [...limitColumns, ...spentColumns]),
      ...add('holds', ['counted', 'window_second', 'window_tokens']),
      // Holds of calls without limits are not in this index, so it does not slow down writing them.
      'create index idx_holds_counted on holds (user_id, token_id, amount) where counted > 0',
      `create table limit_windows (owner text not null, owner_id bigint not null, second bigint not null, calls ${int},
         tokens ${int}, primary key (owner, owner_id, second))${pg ? '' : ' without rowid'}`,
      ...['users', 'tokens'].map((table) => spentSoFar(table, pg)),
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
    if (!pg) return
    await installLedger(db)
    // The new version of the function has one more parameter, the time. `create or replace` would create a second
    // function, so the old one is dropped.
    await sql.raw('drop function tollgate_take(jsonb, boolean)').execute(db)
  },
}

/**
 * Sets the amounts charged in the current day and month to the sums in the log, so that budgets count what was charged
 * before this migration.
 */
function spentSoFar(table: string, pg: boolean): string {
  const epoch = (time: string) => `extract(epoch from ${time} at time zone 'UTC')::bigint`
  const now = pg ? 'extract(epoch from now())::bigint' : 'unixepoch()'
  const day = pg ? epoch("date_trunc('day', now() at time zone 'UTC')") : "unixepoch('now', 'start of day')"
  const month = pg ? epoch("date_trunc('month', now() at time zone 'UTC')") : "unixepoch('now', 'start of month')"
  const id = table === 'users' ? 'user_id' : 'token_id'
  return `with spent as (
      select ${id} as id, sum(quota) as month, sum(case when created_at >= ${day} then quota else 0 end) as today
      from logs where type = 2 and created_at >= ${month} group by ${id}
    )
    update ${table} set spent_today = spent.today, spent_month = spent.month, spent_at = ${now}
    from spent where spent.id = ${table}.id`
}
