import { type Column, SnapshotError, type SnapshotPart, type Value } from './snapshot.ts'

/** Handles the pieces of a snapshot. */
export interface PartsVisitor {
  /** Begins a table. Returns the function that stores its rows. */
  table(name: string, columns: readonly Column[]): Promise<(rows: Value[][]) => Promise<void> | void>
  /**
   * Ends a table. `next` is the id that the next new row will get; 0 if the database does not assign the ids of the
   * table.
   */
  end(name: string, next: number): Promise<void>
}

/**
 * Passes the pieces of a snapshot to the visitor, and returns the number of rows of each table. Throws SnapshotError if
 * the pieces do not form complete tables.
 */
export async function visitParts(
  parts: AsyncIterable<SnapshotPart>,
  visitor: PartsVisitor,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  let current:
    | { name: string; width: number; count: number; store: (rows: Value[][]) => Promise<void> | void }
    | undefined
  for await (const part of parts) {
    if (part.kind === 'table') {
      if (current) throw damaged(`the table ${current.name} does not end`)
      if (Object.hasOwn(counts, part.name)) throw damaged(`the table ${part.name} occurs twice`)
      const store = await visitor.table(part.name, part.columns)
      current = { name: part.name, width: part.columns.length, count: 0, store }
    } else if (!current) throw damaged('it has rows without a table')
    else if (part.kind === 'rows') {
      const { name, width } = current
      if (part.rows.some((row) => row.length !== width)) throw damaged(`a row of the table ${name} has a wrong length`)
      await current.store(part.rows)
      current.count += part.rows.length
    } else {
      const { name, count } = current
      if (part.name !== name || part.rows !== count)
        throw damaged(`the table ${name} has ${count} rows instead of ${part.rows}`)
      await visitor.end(name, part.next)
      counts[name] = count
      current = undefined
    }
  }
  if (current) throw damaged(`the table ${current.name} does not end`)
  return counts
}

/** Throws unless a table of the database has exactly the columns of the snapshot. */
export function requireColumns(table: string, wanted: readonly Column[], present: readonly Column[]): void {
  const names = (columns: readonly Column[]) =>
    columns
      .map(({ name }) => name)
      .toSorted()
      .join(', ')
  if (present.length === 0) throw damaged(`this version has no table ${table}`)
  if (names(wanted) !== names(present))
    throw damaged(`the table ${table} has the columns ${names(wanted)} instead of ${names(present)}`)
}

function damaged(what: string): SnapshotError {
  return new SnapshotError(`The snapshot is damaged: ${what}. Take another one.`)
}
