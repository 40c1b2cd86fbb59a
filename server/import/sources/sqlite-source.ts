import { Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { messageOf } from '../../lib/message-of.ts'
import { ImportFailed } from '../import-failed.ts'
import { pageQuery, type SourceDatabase, type SourceRow, tablesOf } from './source-database.ts'

/** Files larger than this are not checked, because that takes minutes. Damage in them is noticed when they are read. */
const largestChecked = 2 * 1024 ** 3

/**
 * Opens a SQLite file for reading. Messages call it `label`. Throws ImportFailed if the file does not exist or is
 * damaged.
 */
export function openSqliteSource(path: string, label = path): SourceDatabase {
  if (!existsSync(path)) throw new ImportFailed(`There is no file ${label}. Check the path.`)
  if (!statSync(path).isFile())
    throw new ImportFailed(`${label} is not a file. Give the path of the database, such as /data/one-api.db.`)
  if (statSync(path).size === 0)
    throw new ImportFailed(`${label} is empty. Copy the database again while its program is stopped.`)
  const database = new Database(path, { readonly: true })
  try {
    database.run('PRAGMA busy_timeout = 10000')
    // Somebody else created the file, so no part of it is trusted, and its schema may not call functions.
    database.run('PRAGMA trusted_schema = OFF')
    database.run('PRAGMA cell_size_check = ON')
    if (statSync(path).size < largestChecked) check(database, label)
    // SQLite ignores the case of names.
    const columns = database
      .query(
        `select lower(m.name) as tab, c.name as col from sqlite_master m join pragma_table_info(m.name) c
         where m.type = 'table' and m.name not like 'sqlite_%'`,
      )
      .all() as SourceRow[]
    return {
      dialect: 'sqlite',
      label,
      tables: tablesOf(columns),
      page: async (table, request) => run(database, label, pageQuery(table, request)),
      query: async (text) => run(database, label, text),
      close: async () => database.close(),
    }
  } catch (error) {
    database.close()
    throw error instanceof ImportFailed ? error : damaged(label, error)
  }
}

function check(database: Database, path: string): void {
  const [first] = database.query('PRAGMA quick_check(1)').values() as [string][]
  if (first?.[0] !== 'ok') throw damaged(path, first?.[0] ?? '')
}

function run(database: Database, path: string, text: string): SourceRow[] {
  try {
    // Each page has a different query text, so statements are not cached and are freed immediately.
    using statement = database.prepare<SourceRow, []>(text)
    return statement.all()
  } catch (error) {
    throw damaged(path, error)
  }
}

function damaged(path: string, cause: unknown): ImportFailed {
  const reason = messageOf(cause).split('\n').join(' ')
  if (/locked|busy/i.test(reason))
    return new ImportFailed(`${path} is locked by its program. Stop the program, or import from a copy of the file.`)
  return new ImportFailed(
    `${path} cannot be read (${reason}). It is damaged or not a SQLite database: copy it again while its program is stopped, or repair it with "sqlite3 ${path} .recover".`,
    { cause },
  )
}
