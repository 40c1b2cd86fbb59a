import type { Findings } from '../findings.ts'
import type { Program } from '../program.ts'

/** A row of another program's database, as its driver returns it. */
export type SourceRow = Readonly<Record<string, unknown>>

/** The rows of a table to read. */
export interface PageRequest {
  /** Only rows with an id greater than this. Ids are whole numbers. */
  after: number
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
  /** The columns of each table. */
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>
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

/** Groups a list of columns by table. */
export function tablesOf(rows: readonly SourceRow[]): Map<string, Set<string>> {
  const tables = new Map<string, Set<string>>()
  for (const { tab, col } of rows) {
    const columns = tables.get(String(tab)) ?? new Set<string>()
    columns.add(String(col))
    tables.set(String(tab), columns)
  }
  return tables
}

/** A name in a query. */
export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** The query of a page. */
export function pageQuery(table: string, { after, upTo, limit, columns }: PageRequest): string {
  const selected = columns?.map(quoted).join(', ') ?? '*'
  const end = upTo === undefined ? '' : ` and id <= ${Math.trunc(upTo)}`
  return `select ${selected} from ${quoted(table)} where id > ${Math.trunc(after)}${end} order by id limit ${Math.trunc(limit)}`
}

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
    after = Number(rows.at(-1)?.['id'])
  }
}
