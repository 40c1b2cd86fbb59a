import { Database } from 'bun:sqlite'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { messageOf } from '../../lib/message-of.ts'
import { ImportFailed } from '../import-failed.ts'
import { catalogueOf, tablesOf } from './catalogue.ts'
import { pageQuery, type SourceDatabase, type SourceRow } from './source-database.ts'

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
  const database = opened(path, label)
  try {
    database.run('PRAGMA busy_timeout = 5000')
    // Somebody else created the file, so no part of it is trusted, and its schema may not call functions.
    database.run('PRAGMA trusted_schema = OFF')
    database.run('PRAGMA cell_size_check = ON')
    if (statSync(path).size < largestChecked) check(database, label)
    const columns = database
      .query(
        `select m.name as tab, c.name as col, c.type as type,
           c.pk = 1 and (select max(pk) from pragma_table_info(m.name)) = 1 as is_key
         from sqlite_master m join pragma_table_info(m.name) c
         where m.type = 'table' and m.name not like 'sqlite_%'`,
      )
      .all() as SourceRow[]
    const catalogue = catalogueOf(columns, true)
    return {
      dialect: 'sqlite',
      label,
      tables: tablesOf(catalogue),
      catalogue,
      page: async (table, request) => run(database, label, pageQuery({ catalogue }, table, request)),
      query: async (text) => run(database, label, text),
      close: async () => database.close(),
    }
  } catch (error) {
    database.close()
    throw error instanceof ImportFailed ? error : damaged(label, error)
  }
}

/**
 * Throws if the file is shorter than its header says. SQLite itself reads zeros in place of the end of the last page.
 * Beside a journal, the header need not be right.
 */
function refuseShortened(path: string, label: string): void {
  const beside = ['-wal', '-journal'].some((end) => statSync(path + end, { throwIfNoEntry: false })?.size)
  if (beside) return
  const header = Buffer.alloc(100)
  const file = openSync(path, 'r')
  try {
    if (readSync(file, header) < header.length || header.toString('latin1', 0, 15) !== 'SQLite format 3') return
  } finally {
    closeSync(file)
  }
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  // Old versions of SQLite do not keep the number of pages up to date.
  const isCounted = header.readUInt32BE(24) === header.readUInt32BE(92)
  const bytes = isCounted ? header.readUInt32BE(28) * pageSize : 0
  if (statSync(path).size < bytes) throw damaged(label, new Error('its end is missing'))
}

function opened(path: string, label: string): Database {
  try {
    refuseShortened(path, label)
    return new Database(path, { readonly: true })
  } catch (error) {
    throw error instanceof ImportFailed ? error : damaged(label, error)
  }
}

/** Faults of single values, such as NULL in a column that must not be null. The file itself is not damaged. */
const valueFault = /^(?:NULL|NUMERIC|TEXT|non-\w+) value in |^CHECK constraint failed in |^ok$/

/** Throws if the file is damaged. Values that break a rule of their table are imported like any other invalid value. */
function check(database: Database, path: string): void {
  using statement = database.prepare<{ quick_check: string }, []>('PRAGMA quick_check(1000000)')
  for (const { quick_check: fault } of statement.iterate()) if (!valueFault.test(fault)) throw damaged(path, fault)
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
  const code = String((cause as { code?: unknown } | undefined)?.code ?? '')
  // SQLite sorts large tables in temporary files.
  if (code === 'SQLITE_FULL')
    return new ImportFailed(
      `The disk for temporary files cannot be written (${reason}). Free some space, or set SQLITE_TMPDIR to a folder on another disk, and run the command again.`,
      { cause },
    )
  if (/locked|busy/i.test(reason))
    return new ImportFailed(`${path} is locked by its program. Stop the program, or import from a copy of the file.`)
  if (/^(?:SQLITE_(?:READONLY|CANTOPEN|PERM)|EACCES|EPERM)/.test(code))
    return new ImportFailed(
      `${path} cannot be opened (${reason}). Check that this user may read the file and write to its folder. If its program did not end cleanly, start and stop it once, or import from a copy of the file and all files beside it.`,
      { cause },
    )
  return new ImportFailed(
    `${path} cannot be read (${reason}). It is damaged or not a SQLite database: copy it again while its program is stopped, or repair it with "sqlite3 ${path} .recover".`,
    { cause },
  )
}
