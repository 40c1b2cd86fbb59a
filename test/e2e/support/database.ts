import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { Console } from './console.ts'

/** The server's database, for rows that no call can make: states of old servers, and many rows at once. */
export function openDatabase(console: Console): Database {
  const database = new Database(join(console.folder, 'tollgate.db'))
  database.run('PRAGMA busy_timeout = 5000')
  return database
}
