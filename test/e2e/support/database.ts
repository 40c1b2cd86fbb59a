import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { openServerDatabase } from '../../helpers/server-database.ts'
import type { Console } from './console.ts'

/**
 * The server's database, for rows that cannot be created through the API, such as states left by old servers, and for
 * creating many rows at once.
 */
export function openDatabase(console: Console): Database {
  return openServerDatabase(join(console.folder, 'tollgate.db'))
}
