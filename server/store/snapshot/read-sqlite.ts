import { Database } from 'bun:sqlite'
import { setImmediate } from 'node:timers/promises'
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

/** A snapshot of a SQLite file, on a separate connection. Throws if the file does not exist. */
export function snapshotOfSqlite(path: string): Snapshot {
  const database = new Database(path, { readwrite: true, create: false })
  try {
    database.run('PRAGMA busy_timeout = 10000')
    database.run('PRAGMA query_only = ON')
    database.run('BEGIN')
    // The transaction sees the database as it is at its first read, which is this one.
    const names = database.query('select name from sqlite_master where type = ?').values('table').flat().map(String)
    const textOf = (sql: string) => database.query(sql).values().flat().map(String)
    const migrations = names.includes('schema_migrations')
      ? textOf('select name from schema_migrations').toSorted()
      : []
    const [secretCheck] = names.includes('options')
      ? textOf(`select value from options where "key" = '_secret_check'`)
      : []
    return {
      facts: { dialect: 'sqlite', migrations, secretCheck, missingTable: missingTable(migrations, names) },
      async *parts(policies) {
        for (const name of tableNames)
          if (names.includes(name) && policies.includes(tablePolicies[name])) yield* tableParts(database, name)
      },
      async close() {
        database.close()
      },
    }
  } catch (error) {
    database.close()
    throw error
  }
}

async function* tableParts(database: Database, table: string): AsyncGenerator<SnapshotPart> {
  const columns = columnsOfSqlite(database, table)
  yield { kind: 'table', name: table, columns }
  const list = columns.map(({ name }) => `"${name}"`).join(', ')
  let count = 0
  let rows: Value[][] = []
  let characters = 0
  // Rows are read in key order, so that equal tables give equal snapshots.
  const statement = database.prepare(`select ${list} from ${table}${orderOf(database, table)}`)
  try {
    for (const row of statement.iterate() as IterableIterator<Record<string, unknown>>) {
      const values = checkedRow(
        columns.map(({ name }) => row[name]),
        table,
        columns,
      )
      rows.push(values)
      characters += charactersIn(values)
      if (rows.length < rowsPerPart && characters < charactersPerPart) continue
      count += rows.length
      yield { kind: 'rows', rows }
      rows = []
      characters = 0
      // This pause lets the calls of a running server continue.
      await setImmediate()
    }
  } finally {
    statement.finalize()
  }
  if (rows.length > 0) yield { kind: 'rows', rows }
  yield { kind: 'end', name: table, rows: count + rows.length, next: nextId(database, table) }
}

/** The columns of a table, in the order in which the table has them. */
export function columnsOfSqlite(database: Database, table: string): Column[] {
  const info = database.query('select name, type from pragma_table_info(?)').all(table)
  return (info as { name: string; type: string }[]).map(({ name, type }) => ({ name, kind: kindOf(type) }))
}

function kindOf(type: string): ColumnKind {
  const name = type.toLowerCase()
  if (name.includes('int')) return 'integer'
  if (name.includes('bool')) return 'boolean'
  return name.includes('real') || name.includes('double') ? 'real' : 'text'
}

function orderOf(database: Database, table: string): string {
  const key = database.query('select name from pragma_table_info(?) where pk > 0 order by pk').values(table).flat()
  return key.length > 0 ? ` order by ${key.map((name) => `"${String(name)}"`).join(', ')}` : ''
}

function nextId(database: Database, table: string): number {
  const hasSequences = database.query(`select 1 from sqlite_master where name = 'sqlite_sequence'`).get() !== null
  if (!hasSequences) return 0
  const row = database.query('select seq from sqlite_sequence where name = ?').get(table) as { seq: number } | null
  return row && row.seq > 0 ? row.seq + 1 : 0
}

/** True if a file is a SQLite database of another program. It is opened for reading only, so nothing in it changes. */
export function isForeignSqlite(path: string): boolean {
  let database: Database | undefined
  try {
    database = new Database(path, { readonly: true })
    const names = database.query('select name from sqlite_master where type = ?').values('table').flat().map(String)
    return names.includes('users') && !names.includes('schema_migrations')
  } catch {
    return false
  } finally {
    database?.close()
  }
}
