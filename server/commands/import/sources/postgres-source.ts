import pg from 'pg'
import { CommandFailed } from '../../command.ts'
import { pageQuery, type SourceDatabase, type SourceRow, tablesOf } from './source-database.ts'

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
  const run = async (text: string): Promise<SourceRow[]> => {
    try {
      return (await client.query<Record<string, unknown>>(text)).rows
    } catch (error) {
      throw unreadable(label, error)
    }
  }
  const columns = await run(
    `select table_name as tab, column_name as col from information_schema.columns where table_schema = current_schema()`,
  )
  return {
    dialect: 'postgres',
    label,
    tables: tablesOf(columns),
    page: (table, request) => run(pageQuery(table, request)),
    query: run,
    close: () => client.end(),
  }
}

/** What to do about a database that cannot be opened; the message never contains the password. */
export function unreachable(label: string, error: unknown): CommandFailed {
  const { code, errno } = error as { code?: string; errno?: number }
  if (code === '28P01' || code === '28000' || code === 'ER_ACCESS_DENIED_ERROR' || errno === 1045)
    return new CommandFailed(`${label} rejects the user or the password. Check both in the address after --from.`)
  if (code === '3D000' || code === 'ER_BAD_DB_ERROR' || errno === 1049 || errno === 1044)
    return new CommandFailed(`${label} does not exist on that server. Check the name at the end of the address.`)
  const reason = (error instanceof Error ? error.message : String(error)) || (code ?? 'no response')
  return new CommandFailed(
    `${label} cannot be reached (${reason}). Check host and port, and that it may be reached from here.`,
    {
      cause: error,
    },
  )
}

/** What to do about a query that failed. */
export function unreadable(label: string, error: unknown): CommandFailed {
  const reason = error instanceof Error ? error.message : String(error)
  return new CommandFailed(
    `${label} cannot be read (${reason}). Check that the user may read all tables, and run the command again; it goes on where it was.`,
    { cause: error },
  )
}
