import { Database, SQLiteError } from 'bun:sqlite'

/** Most faults that are told: one is enough to know. */
const mostFaults = 10

/**
 * What SQLite finds wrong with a database file, by its quick check; an empty list for a sound one. Reads through a
 * connection that can change nothing, beside whoever else uses the file, and waits `patienceMs` for a lock to go. Throws
 * when the file cannot be read, which says nothing about its state.
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

/** True when SQLite found the content of the file wrong; a file that is locked or cannot be opened may be sound. */
function isDamage(error: unknown): error is SQLiteError {
  return error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? '')
}
