import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { exportedTables } from './exported-tables.ts'

/**
 * Tables that an export omits. They contain running state, data that expires soon, or data that is derived from other
 * tables.
 */
const leftOut = [
  ...[
    'abilities',
    'access_tokens',
    'alert_deliveries',
    'alert_events',
    'alert_states',
    'backups',
    'cap_counts',
    'cap_places',
  ],
  ...[
    'cap_waits',
    'capture_rules',
    'captures',
    'channel_dead_keys',
    'channel_failures',
    'drain_sessions',
    'error_minutes',
    'holds',
    'leases',
  ],
  ...[
    'import_rows',
    'import_runs',
    'imports',
    'job_runs',
    'limit_windows',
    'log_sinks',
    'mail_limits',
    'nodes',
    'one_time_codes',
    'schema_migrations',
    'sessions',
  ],
  ...['statement_emails', 'stored_responses', 'background_jobs', 'usage_fold', 'usage_part'],
]

forEachDatabase((name, openFresh) => {
  if (name === 'sqlite') return

  test('every table is listed as exported or omitted, and exported boolean columns are listed', async () => {
    const { read } = await openFresh()
    const { rows } = await sql<{ table_name: string; column_name: string; data_type: string }>`
      select table_name, column_name, data_type from information_schema.columns
        where table_schema = 'public' and table_name not like 'logs\\_%'`.execute(read)
    const tables = [...new Set(rows.map(({ table_name }) => table_name))]
    expect(tables.sort()).toEqual([...leftOut, ...exportedTables.map(({ table }) => table)].sort())
    for (const { table, booleans = [], key, left = [], secrets = {} } of exportedTables) {
      const own = rows.filter(({ table_name }) => table_name === table)
      const found = own.filter(({ data_type }) => data_type === 'boolean').map(({ column_name }) => column_name)
      expect([table, found.sort()]).toEqual([table, [...booleans].sort()])
      const names = own.map(({ column_name }) => column_name)
      for (const column of [...key, ...left, ...Object.keys(secrets)]) expect(names).toContain(column)
    }
  })
})
