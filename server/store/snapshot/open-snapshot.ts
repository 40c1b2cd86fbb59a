import { isPostgresUrl } from '../../lib/network/database-url.ts'
import { setDriversUp } from '../connection/process-settings.ts'
import { snapshotOfPostgres } from './read-postgres.ts'
import { snapshotOfSqlite } from './read-sqlite.ts'
import type { Snapshot } from './snapshot.ts'

/** Opens a snapshot of a database as it is now. `url` has the same form as for `openStore`. */
export async function openSnapshot(url: string): Promise<Snapshot> {
  setDriversUp()
  return isPostgresUrl(url) ? snapshotOfPostgres(url) : snapshotOfSqlite(url)
}
