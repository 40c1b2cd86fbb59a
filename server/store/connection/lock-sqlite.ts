import { Database } from 'bun:sqlite'
import { closeSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isPostgresUrl } from '../../lib/network/database-url.ts'

/** A server's exclusive claim to its database. */
export interface Claim {
  /** Gives up the claim, so that another server can take it. */
  release(): void
}

/** The time to wait for a server that was just told to end. It may still be writing its last rows. */
const patienceMs = 3_000
const pollMs = 50

/**
 * Claims a SQLite database for this server, so that no second server writes to it. PostgreSQL serves any number of
 * servers and needs no claim. The claim is a lock that SQLite holds on a file beside the database. The operating system
 * releases it when the process ends, for whatever reason. Most commands of `npm run tollgate` run without a claim.
 * If the database is still claimed after `waitMs` milliseconds, throws an error with a message for the operator.
 */
export async function claimDatabase(url: string, waitMs = patienceMs): Promise<Claim> {
  if (isPostgresUrl(url)) return { release: () => undefined }
  const folder = dirname(url)
  const file = join(folder, 'server.lock')
  closeSync(openSync(file, 'a', 0o600))
  const database = new Database(file)
  const lateMs = performance.now() + waitMs
  while (!locked(database)) {
    if (performance.now() > lateMs) {
      database.close()
      throw new Error(
        `another server is running on the database in ${folder}, and SQLite serves one: stop the other one, or set DATA_DIR to a folder of its own (or DATABASE_URL to a PostgreSQL database)`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  return { release: () => database.close() }
}

function locked(database: Database): boolean {
  try {
    // A journal in memory avoids a journal file, which would be left behind.
    database.run('PRAGMA journal_mode = MEMORY')
    // The transaction never writes and is never ended. The database stays open, because the lock lasts as long as the
    // transaction.
    database.run('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return false
    throw error
  }
}
