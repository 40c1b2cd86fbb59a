interface CatalogueColumn {
  /** The name in the database's own spelling. */
  name: string
  /** In lower case. */
  type: string
  /** True if no two rows have the same value. */
  isKey: boolean
}

/** A table as the database knows it. */
interface CatalogueTable {
  /** The name in the database's own spelling. */
  name: string
  columns: Map<string, CatalogueColumn>
}

/** The tables of a database, by the names that the import uses. */
export type Catalogue = ReadonlyMap<string, CatalogueTable>

/**
 * Groups a list of columns (`tab`, `col`, `type`, `is_key`) by table. With `foldsCase`, tables and columns get names in lower case,
 * because people rename them and databases do not care. Of two tables whose names differ only in case, the one in lower
 * case gets the name, and the other one keeps its own.
 */
export function catalogueOf(rows: readonly Readonly<Record<string, unknown>>[], foldsCase: boolean): Catalogue {
  const own = new Set(rows.map((row) => String(row['tab'])))
  const fold = (name: string) => (foldsCase ? name.toLowerCase() : name)
  const tables = new Map<string, CatalogueTable>()
  for (const row of rows) {
    const name = String(row['tab'])
    const lower = fold(name)
    const isFirst = !own.has(lower) && (tables.get(lower)?.name ?? name) === name
    const key = lower === name || isFirst ? lower : name
    const table = tables.get(key) ?? { name, columns: new Map() }
    const column = String(row['col'])
    const type = String(row['type']).toLowerCase()
    table.columns.set(fold(column), { name: column, type, isKey: Boolean(row['is_key']) })
    tables.set(key, table)
  }
  return tables
}

/** The columns of each table, by the names that the import uses. */
export const tablesOf = (catalogue: Catalogue): Map<string, Set<string>> =>
  new Map([...catalogue].map(([table, { columns }]) => [table, new Set(columns.keys())]))
