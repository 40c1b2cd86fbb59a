import { Database } from 'bun:sqlite'

/** Opens the SQLite file of a running server. Queries wait while the server is writing. */
export function openServerDatabase(file: string): Database {
  const database = new Database(file)
  database.run('PRAGMA busy_timeout = 5000')
  return database
}
