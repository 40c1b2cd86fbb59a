import { Database, SQLiteError } from 'bun:sqlite'

/** The maximum number of faults that are reported. One is enough to show that the file is damaged. */
const mostFaults = 10

/**
 * The faults that SQLite's quick check finds in a database file; an empty list for an intact file. The check uses a
 * read-only connection, so the file may be in use. It waits up to `patienceMs` for a lock to be released. It throws if
 * the file cannot be read, which does not mean that the file is damaged.
 */
export function quickCheck(file: string, patienceMs = 5000): string[] {
  try {
    const database = new Database(file, { readonly: true })
    try {
      database.run(`PRAGMA busy_timeout = ${patienceMs}`)
      const rows = database.query(`PRAGMA quick_check(${mostFaults})`).all() as { quick_check: string }[]
      return rows.map(({ quick_check: fault }) => fault).filter((fault) => fault !== 'ok')
    } finally {
      database.close()
    }
  } catch (error) {
    if (isDamage(error)) return [error.message]
    throw error
  }
}

/**
 * True if SQLite found that the content of the file is damaged. A file that is locked or cannot be opened may be
 * intact.
 */
function isDamage(error: unknown): error is SQLiteError {
  return error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? '')
}
