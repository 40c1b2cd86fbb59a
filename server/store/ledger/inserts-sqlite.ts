import type { Database, SQLQueryBindings } from 'bun:sqlite'

/** Values of rows, one row after the other, each in column order. */
export type RowValues = SQLQueryBindings[]

/** Rows per statement, largest first: a batch of any size takes a handful of statements. */
const sizes = [16, 8, 4, 2, 1] as const

/** The statement that inserts this many rows into a table. */
export function insertInto(table: string, columns: readonly string[], rows = 1): string {
  const row = `(${columns.map(() => '?').join(', ')})`
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${new Array(rows).fill(row).join(', ')}`
}

/**
 * Prepares the insertion of many rows into one SQLite table. A statement with several rows costs little more than one
 * with a single row, because most of the cost is starting it. Rows are inserted in order; an empty list does nothing.
 */
export function prepareInserts(
  database: Database,
  table: string,
  columns: readonly string[],
): (values: RowValues) => void {
  const inserts = sizes.map((rows) => ({
    count: rows * columns.length,
    statement: database.prepare(insertInto(table, columns, rows)),
  }))
  return (values) => {
    let from = 0
    for (const { count, statement } of inserts) {
      for (; values.length - from >= count; from += count) statement.run(...values.slice(from, from + count))
    }
  }
}
