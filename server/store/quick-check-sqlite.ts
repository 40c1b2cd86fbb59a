import { Database } from 'bun:sqlite'

/** Most faults that are told: one is enough to know. */
const mostFaults = 10

/**
 * What SQLite finds wrong with a database file, by its quick check; an empty list for a sound one. Reads through a
 * connection that can change nothing, beside whoever else uses the file.
 */
export function quickCheck(file: string): string[] {
  try {
    const database = new Database(file, { readonly: true })
    try {
      database.run('PRAGMA busy_timeout = 5000')
      const rows = database.query(`PRAGMA quick_check(${mostFaults})`).all() as { quick_check: string }[]
      return rows.map(({ quick_check: fault }) => fault).filter((fault) => fault !== 'ok')
    } finally {
      database.close()
    }
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}
