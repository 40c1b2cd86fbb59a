import { fateOf } from '../jobs/node-process.ts'
import { deadAfterSeconds } from '../jobs/sweep-holds.ts'
import { isPostgresUrl } from '../lib/network/database-url.ts'
import { type Claim, claimDatabase } from '../store/connection/lock-sqlite.ts'
import { allNodes } from '../store/installation/nodes.ts'
import { hasTable } from '../store/migrations/migrate.ts'
import type { Store } from '../store/store.ts'
import { CommandFailed } from './command.ts'

/**
 * Prevents servers from starting on a SQLite database until the claim is released. Throws CommandFailed if a server is
 * already running on it. Does nothing for PostgreSQL.
 */
export async function claimFor(databaseUrl: string, what: string): Promise<Claim> {
  if (isPostgresUrl(databaseUrl)) return { release: () => undefined }
  try {
    return await claimDatabase(databaseUrl)
  } catch {
    throw new CommandFailed(
      `A server is running on the database ${databaseUrl}: stop it, and ${what} again. Nothing was changed.`,
    )
  }
}

/** Throws CommandFailed if a server is running on this PostgreSQL database. Does nothing for SQLite. */
export async function requireNoNodes(store: Store, what: string): Promise<void> {
  if (store.dialect !== 'postgres' || !(await hasTable(store.read, store, 'nodes'))) return
  const alive = (await allNodes(store)).filter(
    (node) => node.silentSeconds < deadAfterSeconds && fateOf(node) !== 'gone',
  )
  if (alive.length === 0) return
  // The stored machine name begins with the host name.
  const hosts = alive.map(({ host, pid }) => `${host.split(' ')[0]} (process ${pid})`).join(', ')
  throw new CommandFailed(
    `A server is running on this database, on ${hosts}: stop all servers, and ${what} again. A server that was killed counts as running for ${deadAfterSeconds} seconds. Nothing was changed.`,
  )
}
