import type { Findings } from '../findings.ts'
import type { Program } from '../program.ts'
import type { Catalogue } from './catalogue.ts'

/** A row of another program's database, as its driver returns it. */
export type SourceRow = Readonly<Record<string, unknown>>

/** The part of a source that says how its tables and columns are named. */
type Named = Pick<SourceDatabase, 'catalogue'>

/** The rows of a table to read. */
export interface PageRequest {
  /** Only rows with an id greater than this. Ids are whole numbers; those beyond 2^53 need a bigint. */
  after: number | bigint
  /** Only rows with an id of at most this. */
  upTo?: number
  limit: number
  /** The columns to read; all of them by default. */
  columns?: readonly string[]
}

/** Another program's database. Nothing is ever written to it. */
export interface SourceDatabase {
  readonly dialect: 'sqlite' | 'mysql' | 'postgres'
  /** The address of the database without its password. */
  readonly label: string
  /** The columns of each table. Where the database ignores the case of names, they are in lower case. */
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>
  /** The names and types that the database itself has; undefined if all names are those in `tables`. */
  readonly catalogue?: Catalogue
  /** The next rows of a table in the order of their ids. */
  page(table: string, request: PageRequest): Promise<SourceRow[]>
  /** Runs a query. Names must be in double quotes, regardless of the database. */
  query(text: string): Promise<SourceRow[]>
  close(): Promise<void>
  /** The program, if it is already known when the source is opened. */
  readonly program?: Program
  /** Adds the findings from opening the source to `findings`. */
  report?(findings: Findings): void
}

/** A name in a query. */
export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** A table as a query must name it. */
export const tableName = ({ catalogue }: Named, table: string) => quoted(catalogue?.get(table)?.name ?? table)

/** The type of a column in lower case, such as `bigint`; '' if it is not known. */
export const columnType = ({ catalogue }: Named, table: string, column: string) =>
  catalogue?.get(table)?.columns.get(column)?.type ?? ''

/** True if the database guarantees that no two rows have the same value in a column, or if this is not known. */
export const isKey = ({ catalogue }: Named, table: string, column: string) =>
  catalogue?.get(table)?.columns.get(column)?.isKey ?? true

/** The list of columns to select. Each gets the name that it has in `tables`, whatever the database calls it. */
export function selectList({ catalogue }: Named, table: string, columns?: readonly string[]): string {
  const known = catalogue?.get(table)?.columns
  if (!known) return columns?.map(quoted).join(', ') ?? '*'
  const isRenamed = [...known].some(([column, { name }]) => column !== name)
  if (columns === undefined && !isRenamed) return '*'
  return (columns ?? [...known.keys()])
    .map((column) => `${quoted(known.get(column)?.name ?? column)} as ${quoted(column)}`)
    .join(', ')
}

/** The query of a page. */
export function pageQuery(source: Named, table: string, { after, upTo, limit, columns }: PageRequest): string {
  const end = upTo === undefined ? '' : ` and id <= ${Math.trunc(upTo)}`
  return `select ${selectList(source, table, columns)} from ${tableName(source, table)} where id > ${typeof after === 'number' ? Math.trunc(after) : after}${end} order by id limit ${Math.trunc(limit)}`
}

/** All rows of a table that is known to be small. */
export const allRows = (source: SourceDatabase, table: string): Promise<SourceRow[]> =>
  source.query(`select ${selectList(source, table)} from ${tableName(source, table)}`)

/** Reads a table in pages. */
export async function* pages(
  source: SourceDatabase,
  table: string,
  request: Partial<PageRequest> = {},
): AsyncGenerator<SourceRow[]> {
  const limit = request.limit ?? 500
  let after = request.after ?? Number.MIN_SAFE_INTEGER
  for (;;) {
    const rows = await source.page(table, { ...request, after, limit })
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    const last = rows.at(-1)?.['id']
    after = typeof last === 'string' && /^-?\d+$/.test(last) ? BigInt(last) : Number(last)
  }
}
