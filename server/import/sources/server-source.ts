import { messageOf } from '../../lib/message-of.ts'
import { ImportFailed } from '../import-failed.ts'
import { catalogueOf, tablesOf } from './catalogue.ts'
import { pageQuery, type SourceDatabase, type SourceRow } from './source-database.ts'

/** A connection to a database server. */
interface Connected {
  dialect: 'mysql' | 'postgres'
  /** The address of the database without its password. */
  label: string
  /** The SQL expression for the schema that contains the tables. */
  schema: string
  /** The SQL expression that is true for a row `c` of information_schema.columns whose values are unique. */
  isKey: string
  rows(text: string): Promise<SourceRow[]>
  close(): Promise<void>
}

/** Creates a source from a connection. Throws ImportFailed if its tables cannot be listed. */
export async function serverSource({ dialect, label, schema, isKey, rows, close }: Connected): Promise<SourceDatabase> {
  const query = (text: string): Promise<SourceRow[]> =>
    rows(text).catch((error: unknown) => {
      throw unreadable(label, error)
    })
  // Views and sequences are not data of their own. A view may also be broken, and then cannot be read.
  const columns = await query(
    `select c.table_name as tab, c.column_name as col, c.data_type as type, ${isKey} as is_key
     from information_schema.columns c join information_schema.tables t
       on t.table_schema = c.table_schema and t.table_name = c.table_name
     where c.table_schema = ${schema} and t.table_type not in ('VIEW', 'SYSTEM VIEW', 'SEQUENCE')`,
  )
  // PostgreSQL's names keep their case, and LiteLLM's tables are named so.
  const catalogue = catalogueOf(columns, dialect === 'mysql')
  return {
    dialect,
    label,
    tables: tablesOf(catalogue),
    catalogue,
    page: (table, request) => query(pageQuery({ catalogue }, table, request)),
    query,
    close,
  }
}

/** The error for a database that cannot be opened. It says what to do, and never contains the password. */
export function unreachable(label: string, error: unknown): ImportFailed {
  const { code, errno } = error as { code?: string; errno?: number }
  if (code === '28P01' || code === '28000' || code === 'ER_ACCESS_DENIED_ERROR' || errno === 1045)
    return new ImportFailed(`${label} rejects the user or the password. Check both in the address.`)
  if (code === '3D000' || code === 'ER_BAD_DB_ERROR' || errno === 1049 || errno === 1044)
    return new ImportFailed(`${label} does not exist on that server. Check the name at the end of the address.`)
  const reason = messageOf(error) || (code ?? 'no response')
  return new ImportFailed(`${label} cannot be reached (${reason}). Check the host, the port and the firewall.`, {
    cause: error,
  })
}

/** The error for a query that failed. It says what to do. */
function unreadable(label: string, error: unknown): ImportFailed {
  const reason = messageOf(error)
  return new ImportFailed(
    `${label} cannot be read (${reason}). Check that the user may read all tables, and run the command again; it continues where it stopped.`,
    { cause: error },
  )
}
