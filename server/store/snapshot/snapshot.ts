import type { TablePolicy } from './table-policy.ts'

/** A value that SQLite and PostgreSQL can both store. */
export type Value = string | number | boolean | null

/** The type of a column's values. Types with different names in SQLite and PostgreSQL have the same kind. */
export type ColumnKind = 'integer' | 'real' | 'text' | 'boolean'

export interface Column {
  name: string
  kind: ColumnKind
}

/**
 * One piece of a snapshot. A table consists of a piece of kind `table`, any number of pieces of kind `rows`, and a
 * piece of kind `end`. `next` is the id that the next new row would get; 0 if the database does not assign the ids of
 * the table.
 */
export type SnapshotPart =
  | { kind: 'table'; name: string; columns: Column[] }
  | { kind: 'rows'; rows: Value[][] }
  | { kind: 'end'; name: string; rows: number; next: number }

/** Facts about the installation at the moment of the snapshot. */
export interface SnapshotFacts {
  dialect: 'sqlite' | 'postgres'
  /** The names of the migrations that have been run, sorted. */
  migrations: string[]
  /** Identifies the secret key; undefined if the installation was never started. */
  secretCheck: string | undefined
  /** A table that a database of this version must have, but that this database does not have. */
  missingTable: string | undefined
}

/**
 * The contents of a database at one moment. The calls of a running server continue while the snapshot is read. The
 * snapshot holds a read transaction until it is closed.
 */
export interface Snapshot {
  readonly facts: SnapshotFacts
  /**
   * The pieces of all tables that have one of these policies. Rows are read only as the pieces are consumed, so little
   * memory is needed.
   */
  parts(policies: readonly TablePolicy[]): AsyncIterable<SnapshotPart>
  close(): Promise<void>
}

/** The error if a snapshot cannot be taken or loaded. Its message is a sentence for the operator. */
export class SnapshotError extends Error {}

/** A piece has at most this many rows. */
export const rowsPerPart = 500
/** A piece ends when the texts of its rows have this many characters in total. */
export const charactersPerPart = 256 * 1024

/** Throws unless every number of the row is exact. */
export function checkedRow(row: readonly unknown[], table: string, columns: readonly Column[]): Value[] {
  return row.map((value, at) => {
    const { name, kind } = columns[at] as Column
    if (value === null || value === undefined) return null
    if (kind === 'boolean') return Boolean(value)
    if (kind === 'text') return String(value)
    if (typeof value === 'number' && (kind === 'real' ? Number.isFinite(value) : Number.isSafeInteger(value)))
      return value
    throw new SnapshotError(
      `The column ${name} of the table ${table} has the value ${String(value)}, which is no number that can be copied exactly. Correct the row, and try again.`,
    )
  })
}

/** The number of characters in a row's texts. */
export function charactersIn(row: readonly Value[]): number {
  return row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
}
