import { join, resolve } from 'node:path'
import type { RestrictedAccess } from '../../jobs/import-engine.ts'
import type { JsonObject } from '../../lib/json.ts'
import { isPostgresUrl } from '../../lib/network/database-url.ts'
import { sourceAddress } from '../../lib/network/source-address.ts'
import { ImportFailed } from '../import-failed.ts'
import { isConfigFile, readConfigFile } from '../litellm/config-file.ts'
import { isLitellm, readLitellm } from '../litellm/litellm-source.ts'
import { isMysqlAddress, openMysqlAt, openMysqlSource } from './mysql-source.ts'
import { openPostgresAt, openPostgresSource } from './postgres-source.ts'
import type { SourceDatabase } from './source-database.ts'
import { openSqliteSource } from './sqlite-source.ts'

/** The additional input for LiteLLM. */
export interface LitellmNeeds {
  /** The path of its config.yaml, in addition to its database. */
  config: string | undefined
  dataDir: string
  quotaPerUnit: number
  variable(name: string): string | undefined
}

/**
 * Opens the source of an import: the database of a program, or the `config.yaml` of LiteLLM. Throws ImportFailed if it
 * cannot be opened.
 */
export async function openImport(
  address: string,
  needs: LitellmNeeds,
  access?: RestrictedAccess,
): Promise<SourceDatabase> {
  const given = (config: JsonObject) => ({ ...needs, config, folder: join(needs.dataDir, 'imports') })
  const upload = access?.upload
  if (access && address === '') {
    if (!upload) throw new ImportFailed('The uploaded file is no longer here. Upload it again.')
    return isConfigFile(upload.path)
      ? readLitellm(undefined, upload.name, given(readConfigFile(upload.path, upload.name)))
      : openSqliteSource(upload.path, upload.name)
  }
  if (access) return withConfig(await openSource(address, access), upload && readConfigFile(upload.path, upload.name))
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(address) && isConfigFile(address))
    return readLitellm(undefined, address, given(readConfigFile(address)))
  return withConfig(await openSource(address), needs.config === undefined ? undefined : readConfigFile(needs.config))

  async function withConfig(source: SourceDatabase, config: JsonObject | undefined): Promise<SourceDatabase> {
    if (isLitellm(source)) return readLitellm(source, source.label, given(config ?? {}))
    if (config === undefined) return source
    await source.close()
    throw new ImportFailed(`${source.label} is not a database of LiteLLM, so its configuration does not belong to it.`)
  }
}

/**
 * Opens the database at an address: `postgres://…`, `mysql://…`, one-api's own form for MySQL, or the path of a SQLite
 * file. If it cannot be opened, throws ImportFailed, which says what to do.
 */
export async function openSource(address: string, access?: RestrictedAccess): Promise<SourceDatabase> {
  if (access) return openServer(address, access)
  if (isPostgresUrl(address)) return openPostgresSource(address)
  if (isMysqlAddress(address)) return openMysqlSource(address)
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address)?.[1]
  if (scheme !== undefined && scheme !== 'sqlite' && scheme !== 'file')
    throw new ImportFailed(
      `${scheme}:// is not an address that can be imported from. Give postgres://…, mysql://… or the path of a SQLite file.`,
    )
  return openSqliteSource(resolve(address.replace(/^(?:sqlite|file):\/\//, '').replace(/\?.*$/, '')))
}

/**
 * Connects to a database server whose address a console user entered. Such an import may not access files or sockets of
 * the gateway's machine.
 */
async function openServer(text: string, { addressOf }: RestrictedAccess): Promise<SourceDatabase> {
  const address = sourceAddress(text)
  if ('fault' in address) throw new ImportFailed(address.fault)
  const ip = await addressOf(address.host).catch((error: Error) => {
    throw new ImportFailed(error.message)
  })
  return address.kind === 'postgres' ? openPostgresAt(address, ip) : openMysqlAt(address, ip)
}
