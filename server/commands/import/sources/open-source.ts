import { join, resolve } from 'node:path'
import type { JsonObject } from '../../../lib/json.ts'
import { isPostgresUrl } from '../../../lib/network/database-url.ts'
import { CommandFailed } from '../../command.ts'
import { isConfigFile, readConfigFile } from '../litellm/config-file.ts'
import { isLitellm, readLitellm } from '../litellm/litellm-source.ts'
import { isMysqlAddress, openMysqlSource } from './mysql-source.ts'
import { openPostgresSource } from './postgres-source.ts'
import type { SourceDatabase } from './source-database.ts'
import { openSqliteSource } from './sqlite-source.ts'

/** What LiteLLM needs besides an address. */
export interface LitellmNeeds {
  /** The path of its config.yaml, beside its database. */
  config: string | undefined
  dataDir: string
  quotaPerUnit: number
  variable(name: string): string | undefined
}

/** Opens what is to be imported: the database of a program, or the `config.yaml` of LiteLLM. Throws CommandFailed. */
export async function openImport(address: string, needs: LitellmNeeds): Promise<SourceDatabase> {
  const given = (config: JsonObject) => ({ ...needs, config, folder: join(needs.dataDir, 'imports') })
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(address) && isConfigFile(address))
    return readLitellm(undefined, address, given(readConfigFile(address)))
  const config = needs.config === undefined ? undefined : readConfigFile(needs.config)
  const source = await openSource(address)
  if (isLitellm(source)) return readLitellm(source, source.label, given(config ?? {}))
  if (config === undefined) return source
  await source.close()
  throw new CommandFailed(`${source.label} is not a database of LiteLLM, so --litellm-config does not belong to it.`)
}

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
