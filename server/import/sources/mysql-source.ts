import {
  type Connection,
  type ConnectionOptions,
  createConnection,
  type FieldPacket,
  type RowDataPacket,
} from 'mysql2/promise'
import type { SourceAddress } from '../../lib/network/source-address.ts'
import { isZeroDate } from '../fields.ts'
import { ImportFailed } from '../import-failed.ts'
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

/** The form in which one-api and related programs write the address of MySQL: `user:password@tcp(host:port)/name`. */
const goForm =
  /^(?<user>[^:@]*):(?<password>.*)@(?:tcp\((?<host>[^):]+)(?::(?<port>\d+))?\)|unix\((?<path>[^)]+)\))\/(?<name>[^?]+)/

/** True for an address of MySQL or MariaDB: a URL, or the form of one-api. */
export function isMysqlAddress(text: string): boolean {
  return /^(?:mysql|mariadb):\/\//i.test(text) || goForm.test(text)
}

/** Opens a MySQL or MariaDB database for reading. Throws ImportFailed if it cannot be reached. */
export async function openMysqlSource(text: string): Promise<SourceDatabase> {
  const address = parsed(text)
  return connected(address, `mysql://${address.socketPath ?? `${address.host}:${address.port}`}/${address.database}`)
}

/** Opens the database at an IP address to which the host in `address` was resolved. */
export function openMysqlAt(address: SourceAddress, ip: string): Promise<SourceDatabase> {
  const { port, user, password, database, tls, label } = address
  const ssl = tls === 'off' ? {} : { ssl: { rejectUnauthorized: tls === 'checked' } }
  return connected({ host: ip, port, user, password, database, ...ssl }, label)
}

async function connected(address: ConnectionOptions, label: string): Promise<SourceDatabase> {
  let connection: Connection
  try {
    connection = await createConnection({
      ...address,
      charset: 'utf8mb4',
      supportBigNumbers: true,
      dateStrings: true,
      connectTimeout: 15_000,
    })
    // The server's modes are for its own programs: some change what a query means, or pad texts. A limit on the number
    // of rows would silently drop data.
    await connection.query(`set session sql_mode = 'ANSI_QUOTES', session sql_select_limit = 18446744073709551615`)
    await connection.query('set session transaction read only')
  } catch (error) {
    throw unreachable(label, error)
  }
  // If an idle connection fails, the next query reports it.
  connection.on('error', () => undefined)
  return serverSource({
    dialect: 'mysql',
    label,
    schema: 'database()',
    isKey: `(c.table_name, c.column_name) in (select s.table_name, max(s.column_name) from information_schema.statistics s
      where s.table_schema = database() and s.non_unique = 0 group by s.table_name, s.index_name having count(*) = 1)`,
    rows: async (text) => plainRows(...(await connection.query<RowDataPacket[]>(text))),
    close: () => connection.end(),
  })
}

const bit = 16
const datesAndTimes: readonly (number | undefined)[] = [10, 12]
const notNullFlag = 1

/**
 * Numbers for bits, and null for dates that MySQL itself treats as null: in a column that cannot be null, a query with
 * `is null` finds 0000-00-00, and programs rely on it.
 */
function plainRows(rows: RowDataPacket[], fields: FieldPacket[]): RowDataPacket[] {
  for (const { name, columnType, flags } of fields) {
    if (columnType === bit)
      for (const row of rows)
        if (row[name] instanceof Uint8Array) row[name] = Number(`0x${Buffer.from(row[name]).toString('hex')}`)
    if (datesAndTimes.includes(columnType) && (Number(flags) & notNullFlag) !== 0)
      for (const row of rows) if (isZeroDate(row[name])) row[name] = null
  }
  return rows
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
    throw new ImportFailed(
      'The address is not complete. It has the form mysql://user:password@host:3306/name; special characters of the password are percent-encoded.',
    )
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 3306),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
  }
}
