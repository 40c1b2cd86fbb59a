import { isIP } from 'node:net'
import pg from 'pg'
import type { SourceAddress } from '../../lib/network/source-address.ts'
import { ImportFailed } from '../import-failed.ts'
import { serverSource, unreachable } from './server-source.ts'
import type { SourceDatabase } from './source-database.ts'

/** Opens a PostgreSQL database for reading. Throws ImportFailed if it cannot be reached. */
export async function openPostgresSource(address: string): Promise<SourceDatabase> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url)
    throw new ImportFailed(
      'The address is not complete. It has the form postgres://user:password@host:5432/name; special characters of the password are percent-encoded.',
    )
  return connected({ connectionString: address }, `postgres://${url.host}${url.pathname}`)
}

/** Opens the database at an IP address to which the host in `address` was resolved. */
export function openPostgresAt(address: SourceAddress, ip: string): Promise<SourceDatabase> {
  const { port, user, password, database, tls, label } = address
  const ssl = tls === 'off' ? false : { rejectUnauthorized: tls === 'checked', ...named(address) }
  return connected({ host: ip, port, user, password, database, ssl }, label)
}

/** The TLS option with the host name that the certificate must have. */
const named = ({ host }: SourceAddress) => (isIP(host) === 0 ? { servername: host } : {})

async function connected(config: pg.ClientConfig, label: string): Promise<SourceDatabase> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: 15_000, keepAlive: true })
  // If an idle connection fails, the next query reports it.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('set default_transaction_read_only = on')
  } catch (error) {
    throw unreachable(label, error)
  }
  return serverSource({
    dialect: 'postgres',
    label,
    schema: 'current_schema()',
    isKey: `exists (select 1 from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
      where i.indrelid = to_regclass(quote_ident(c.table_schema) || '.' || quote_ident(c.table_name))
        and i.indisunique and i.indpred is null and i.indnatts = 1 and a.attname = c.column_name)`,
    rows: async (text) => (await client.query<Record<string, unknown>>(text)).rows,
    close: () => client.end(),
  })
}
