import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { CommandFailed } from '../../command.ts'
import { serverSource, unreachable } from './server-source.ts'
import type { SourceDatabase } from './source-database.ts'

interface Address {
  host: string
  port: number
  user: string
  password: string
  database: string
  socketPath?: string
}

/** The form in which one-api and its relatives write the address of MySQL: `user:password@tcp(host:port)/name`. */
const goForm =
  /^(?<user>[^:@]*):(?<password>.*)@(?:tcp\((?<host>[^):]+)(?::(?<port>\d+))?\)|unix\((?<path>[^)]+)\))\/(?<name>[^?]+)/

/** True for an address of MySQL or MariaDB, in either form. */
export function isMysqlAddress(text: string): boolean {
  return /^(?:mysql|mariadb):\/\//i.test(text) || goForm.test(text)
}

/** Opens a MySQL or MariaDB database for reading. Throws CommandFailed if it cannot be reached. */
export async function openMysqlSource(text: string): Promise<SourceDatabase> {
  const address = parsed(text)
  const label = `mysql://${address.socketPath ?? `${address.host}:${address.port}`}/${address.database}`
  let connection: Connection
  try {
    connection = await createConnection({
      ...address,
      charset: 'utf8mb4',
      supportBigNumbers: true,
      dateStrings: true,
      connectTimeout: 15_000,
    })
    await connection.query(`set session sql_mode = concat(@@sql_mode, ',ANSI_QUOTES')`)
    await connection.query('set session transaction read only')
  } catch (error) {
    throw unreachable(label, error)
  }
  // An error of an idle connection is reported by the next query.
  connection.on('error', () => undefined)
  return serverSource({
    dialect: 'mysql',
    label,
    schema: 'database()',
    rows: async (text) => (await connection.query<RowDataPacket[]>(text))[0],
    close: () => connection.end(),
  })
}

function parsed(text: string): Address {
  const go = goForm.exec(text)?.groups
  if (go)
    return {
      host: go['host'] ?? 'localhost',
      port: Number(go['port'] ?? 3306),
      user: go['user'] ?? '',
      password: go['password'] ?? '',
      database: go['name'] ?? '',
      ...(go['path'] !== undefined && { socketPath: go['path'] }),
    }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.pathname.length < 2)
    throw new CommandFailed(
      'The address after --from is not complete. It has the form mysql://user:password@host:3306/name; special characters of the password are percent-encoded.',
    )
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 3306),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
  }
}
