import { isPostgresUrl } from '../../lib/network/database-url.ts'
import type { OpenedStore, OpenOptions } from './open-options.ts'
import { openPostgres } from './open-postgres.ts'
import { openSqlite } from './open-sqlite.ts'
import { setDriversUp } from './process-settings.ts'

/** Opens SQLite or PostgreSQL, depending on the form of the URL. Migrations are run separately by `migrate()`. */
export function openStore(options: OpenOptions): OpenedStore {
  setDriversUp()
  return isPostgresUrl(options.url) ? openPostgres(options) : openSqlite(options)
}
