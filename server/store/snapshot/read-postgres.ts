import type pg from 'pg'
import { PatientClient } from '../connection/patient-postgres.ts'
import { missingTable } from './missing-table.ts'
import {
  type Column,
  type ColumnKind,
  charactersIn,
  charactersPerPart,
  checkedRow,
  rowsPerPart,
  type Snapshot,
  type SnapshotPart,
  type Value,
} from './snapshot.ts'
import { tableNames, tablePolicies } from './table-policy.ts'

/** A snapshot of a PostgreSQL database. It is a REPEATABLE READ transaction on a separate connection. */
export async function snapshotOfPostgres(url: string): Promise<Snapshot> {
  const client = new PatientClient({
    connectionString: url,
    application_name: 'tollgate snapshot',
    connectLimitMs: 10_000,
    queryLimitMs: 0,
  })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const hasLog = (await texts(client, `select 1 where to_regclass('logs') is not null`)).length > 0
    await client.query('begin isolation level repeatable read read only')
    // The lock prevents a partition of the log from being dropped, which would remove rows that this snapshot has not
    // read yet.
    if (hasLog) await client.query('lock table logs in access share mode')
    // The code that reads the snapshot may be slow, so timeouts are turned off.
    await client.query('set local idle_in_transaction_session_timeout = 0; set local statement_timeout = 0')
    const names = await texts(
      client,
      `select c.relname from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')`,
    )
    const migrations = names.includes('schema_migrations')
      ? await texts(client, 'select name from schema_migrations order by name collate "C"')
      : []
    const [secretCheck] = names.includes('options')
      ? await texts(client, `select value from options where "key" = '_secret_check'`)
      : []
    return {
      facts: { dialect: 'postgres', migrations, secretCheck, missingTable: missingTable(migrations, names) },
      async *parts(policies) {
        for (const name of tableNames)
          if (names.includes(name) && policies.includes(tablePolicies[name])) yield* tableParts(client, name)
      },
      close: () => client.end(),
    }
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
}

async function* tableParts(client: pg.Client, table: string): AsyncGenerator<SnapshotPart> {
  const columns = await columnsOfPostgres((sql, values) => client.query(sql, [...values]), table)
  yield { kind: 'table', name: table, columns }
  const list = columns.map(({ name }) => `"${name}"`).join(', ')
  await client.query(
    `declare snapshot_rows no scroll cursor for select ${list} from "${table}"${await orderOf(client, table, columns)}`,
  )
  let count = 0
  for (;;) {
    const { rows } = await client.query<unknown[]>({
      text: `fetch ${rowsPerPart} from snapshot_rows`,
      rowMode: 'array',
    })
    if (rows.length === 0) break
    count += rows.length
    yield* partsOf(rows.map((row) => checkedRow(row, table, columns)))
  }
  await client.query('close snapshot_rows')
  yield { kind: 'end', name: table, rows: count, next: await nextId(client, table, columns) }
}

/** Divides rows into pieces so that no piece is much larger than `charactersPerPart`. */
function* partsOf(all: Value[][]): Generator<SnapshotPart> {
  let rows: Value[][] = []
  let characters = 0
  for (const row of all) {
    rows.push(row)
    characters += charactersIn(row)
    if (characters < charactersPerPart) continue
    yield { kind: 'rows', rows }
    rows = []
    characters = 0
  }
  if (rows.length > 0) yield { kind: 'rows', rows }
}

/** Runs one statement with numbered parameters. */
type Ask = (sql: string, values: readonly unknown[]) => Promise<{ rows: unknown[] }>

/** The columns of a table, in the order in which the table has them. */
export async function columnsOfPostgres(ask: Ask, table: string): Promise<Column[]> {
  const { rows } = await ask(
    `select column_name as name, data_type as type from information_schema.columns
      where table_schema = current_schema() and table_name = $1 order by ordinal_position`,
    [table],
  )
  return (rows as { name: string; type: string }[]).map(({ name, type }) => ({ name, kind: kindOf(type) }))
}

function kindOf(type: string): ColumnKind {
  if (type === 'bigint' || type === 'integer' || type === 'smallint') return 'integer'
  if (type === 'boolean') return 'boolean'
  return type === 'double precision' || type === 'real' ? 'real' : 'text'
}

async function orderOf(client: pg.Client, table: string, columns: readonly Column[]): Promise<string> {
  const key = await texts(
    client,
    `select a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
      where i.indrelid = to_regclass($1) and i.indisprimary order by array_position(i.indkey::int2[], a.attnum)`,
    [table],
  )
  // `logs` itself has no primary key. Only its partitions have one.
  if (key.length === 0 && table === 'logs') key.push('id')
  if (key.length === 0) return ''
  // Texts are compared byte by byte, as in SQLite, whatever the collation of the database.
  const isText = (name: string) => columns.find((column) => column.name === name)?.kind === 'text'
  return ` order by ${key.map((name) => `"${name}"${isText(name) ? ' collate "C"' : ''}`).join(', ')}`
}

async function nextId(client: pg.Client, table: string, columns: readonly Column[]): Promise<number> {
  if (!columns.some(({ name }) => name === 'id')) return 0
  const [sequence] = await texts(client, `select pg_get_serial_sequence($1, 'id')`, [`"${table}"`])
  if (sequence === undefined || sequence === 'null') return 0
  const { rows } = await client.query<{ last: number; called: boolean }>(
    `select last_value as last, is_called as called from ${sequence}`,
  )
  const [row] = rows
  return row?.called ? row.last + 1 : 0
}

async function texts(client: pg.Client, sql: string, values: readonly unknown[] = []): Promise<string[]> {
  const { rows } = await client.query<unknown[]>({ text: sql, values: [...values], rowMode: 'array' })
  return rows.flat().map(String)
}
