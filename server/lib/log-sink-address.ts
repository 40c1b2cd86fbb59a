import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The destination to which log rows are copied. `name` contains no credentials. */
export type LogSinkAddress =
  | { kind: 'clickhouse'; name: string; url: string; database: string; user: string; password: string }
  | { kind: 'folder'; name: string; folder: string }

const databaseName = /^[A-Za-z_]\w{0,63}$/

/**
 * True for a valid name of a ClickHouse database. The name becomes part of SQL statements, so only safe characters are
 * accepted.
 */
export function isLogDatabase(name: string): boolean {
  return databaseName.test(name)
}

/**
 * Parses `http://user:password@host:8123/database` or `file:///folder`. Throws an error whose message completes a
 * sentence that begins with the name of the setting.
 */
export function parseLogSink(text: string): LogSinkAddress {
  if (!URL.canParse(text)) throw new Error('is not an address')
  const url = new URL(text)
  if (url.protocol === 'file:') {
    const folder = fileURLToPath(url)
    if (!isAbsolute(folder)) throw new Error('must name a folder with its whole path')
    return { kind: 'folder', name: `file://${folder}`, folder }
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(
      'must begin with http://, https:// (ClickHouse) or file:// (a folder for JSON lines); an object store is chosen in the settings',
    )
  if (url.search !== '' || url.hash !== '') throw new Error('must end with the name of the database')
  const database = decodeURIComponent(url.pathname.slice(1)) || 'default'
  if (!isLogDatabase(database)) throw new Error('must end with the name of a database: letters, digits and _')
  return {
    ...{ kind: 'clickhouse', name: `${url.origin}/${database}`, url: url.origin, database },
    ...{ user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) },
  }
}
