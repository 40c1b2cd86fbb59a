import pg from 'pg'
import { CommandFailed } from '../../command.ts'
import { serverSource, unreachable } from './server-source.ts'
import type { SourceDatabase } from './source-database.ts'

/** Opens a PostgreSQL database for reading. Throws CommandFailed if it cannot be reached. */
export async function openPostgresSource(address: string): Promise<SourceDatabase> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url)
    throw new CommandFailed(
      'The address after --from is not complete. It has the form postgres://user:password@host:5432/name; special characters of the password are percent-encoded.',
    )
  const client = new pg.Client({ connectionString: address, connectionTimeoutMillis: 15_000, keepAlive: true })
  // An error of an idle connection is reported by the next query.
  client.on('error', () => undefined)
  const label = `postgres://${url.host}${url.pathname}`
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
    rows: async (text) => (await client.query<Record<string, unknown>>(text)).rows,
    close: () => client.end(),
  })
}
