import { resolve } from 'node:path'
import { isPostgresUrl } from '../../../lib/network/database-url.ts'
import { CommandFailed } from '../../command.ts'
import { isMysqlAddress, openMysqlSource } from './mysql-source.ts'
import { openPostgresSource } from './postgres-source.ts'
import type { SourceDatabase } from './source-database.ts'
import { openSqliteSource } from './sqlite-source.ts'

/**
 * Opens the database at an address: `postgres://…`, `mysql://…`, one-api's own form of the latter, or the path of a SQLite
 * file. Throws CommandFailed with what to do if it cannot be opened.
 */
export async function openSource(address: string): Promise<SourceDatabase> {
  if (isPostgresUrl(address)) return openPostgresSource(address)
  if (isMysqlAddress(address)) return openMysqlSource(address)
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address)?.[1]
  if (scheme !== undefined && scheme !== 'sqlite' && scheme !== 'file')
    throw new CommandFailed(
      `${scheme}:// is not an address that can be imported from. Give postgres://…, mysql://… or the path of a SQLite file.`,
    )
  return openSqliteSource(resolve(address.replace(/^(?:sqlite|file):\/\//, '').replace(/\?.*$/, '')))
}
