import { Database } from 'bun:sqlite'

/** The SQLite file of a running server, opened beside it; waits where the server is writing. */
export function openServerDatabase(file: string): Database {
  const database = new Database(file)
  database.run('PRAGMA busy_timeout = 5000')
  return database
}
