import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pageQuery, type SourceDatabase, type SourceRow } from './source-database.ts'

const amounts =
  'rpm_limit integer, tpm_limit integer, concurrency_limit integer, daily_budget integer, monthly_budget integer'

/** The tables of one-api that can be filled with data from LiteLLM, with their column definitions. */
const tables: Readonly<Record<string, string>> = {
  users: `id integer primary key, username text, password text, display_name text, role integer, status integer, email text,
    quota integer, used_quota integer, request_count integer, "group" text, created_time integer, without_budget integer, ${amounts}`,
  tokens: `id integer primary key, user_id integer, key text, status integer, name text, created_time integer,
    accessed_time integer, expired_time integer, remain_quota integer, unlimited_quota integer, used_quota integer,
    model_limits_enabled integer, model_limits text, ${amounts}`,
  channels: `id integer primary key, type integer, key text, status integer, name text, weight integer, created_time integer,
    base_url text, models text, "group" text, used_quota integer, model_mapping text, priority integer, config text,
    open_ai_organization text, header_override text`,
  options: 'key text primary key, value text',
  logs: `id integer primary key, user_id integer, created_at integer, type integer, content text, username text,
    token_name text, model_name text, quota integer, prompt_tokens integer, completion_tokens integer, channel_id integer,
    request_id text, elapsed_time integer, token_id integer`,
}

/** A row to write: values by column. */
export type LocalRow = Readonly<Record<string, string | number | null>>

/**
 * A temporary database with LiteLLM's data in one-api's tables, so that the data can be imported like that of one-api.
 */
export interface LocalDatabase {
  /** Writes rows, which must all have the same columns. Fails if the id of a row already exists. */
  insert(table: string, rows: readonly LocalRow[]): void
  /** Stores the rows of a table that has no counterpart in Tollgate, so that the import reports them as leftovers. */
  keep(table: string, rows: readonly SourceRow[]): void
  run(text: string): void
  source(label: string): SourceDatabase
  close(): void
}

/**
 * Creates the database. Accounts and keys are stored only in memory. The log may be large, so it is stored in a file in
 * `folder` that other users of the machine cannot open.
 */
export function createLocalDatabase(folder: string): LocalDatabase {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const spool = mkdtempSync(join(folder, 'reading-'))
  const database = new Database(':memory:')
  database.run(`attach '${join(spool, 'log.db').replaceAll("'", "''")}' as spool`)
  database.run('pragma spool.journal_mode = off')
  database.run('pragma spool.synchronous = off')
  const columns = new Map<string, Set<string>>()
  const create = (name: string, definition: string) => {
    database.run(`create table ${name === 'logs' ? 'spool.' : ''}"${name}" (${definition})`)
    const names = definition.split(',').map((each) => /"?(\w+)"?/.exec(each)?.[1] ?? '')
    columns.set(name, new Set(names))
  }
  for (const [name, definition] of Object.entries(tables)) create(name, definition)
  const query = (text: string): SourceRow[] => {
    using statement = database.prepare<SourceRow, []>(text)
    return statement.all()
  }
  const insert: LocalDatabase['insert'] = (table, rows) => {
    const names = Object.keys(rows[0] ?? {})
    if (names.length === 0) return
    const places = names.map(() => '?').join(', ')
    using statement = database.prepare<unknown, SQLQueryBindings[]>(
      `insert into "${table}" (${names.map((name) => `"${name}"`).join(', ')}) values (${places})`,
    )
    database.transaction(() => {
      for (const row of rows) statement.run(...names.map((name) => row[name] ?? null))
    })()
  }
  return {
    insert,
    keep(table, rows) {
      if (rows.length === 0) return
      create(table, 'id integer primary key, row text')
      insert(
        table,
        rows.map((row, at) => ({ id: at + 1, row: JSON.stringify(row) })),
      )
    },
    run: (text) => database.run(text),
    source: (label) => ({
      dialect: 'sqlite',
      label,
      tables: columns,
      page: async (table, request) => query(pageQuery({}, table, request)),
      query: async (text) => query(text),
      close: async () => close(),
    }),
    close,
  }

  function close(): void {
    database.close()
    rmSync(spool, { recursive: true, force: true })
  }
}
