import { type RawBuilder, sql } from 'kysely'
import type { Tables } from '../schema/tables.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Trx } from '../store.ts'

/** The type of a column when it is read from JSON. */
export type ColumnKind = 'integer' | 'text' | 'boolean' | 'real'

/** The columns of rows that arrive in bulk, in the order of their values. */
export type BulkColumns = readonly (readonly [name: string, kind: ColumnKind])[]

const postgresTypes: Readonly<Record<ColumnKind, string>> = {
  integer: '::bigint',
  text: '',
  boolean: '::boolean',
  real: '::double precision',
}

/** Caches statements by the columns that they write, because their text is the same for each batch. */
const statements = new WeakMap<BulkColumns, Partial<Record<'sqlite' | 'postgres', RawBuilder<unknown>>>>()

/**
 * Inserts many rows with one statement. All values are sent as one parameter, because a statement with thousands of
 * parameters takes longer to prepare than to run. Texts must not contain NUL characters or unpaired surrogates.
 */
export async function bulkInsert(
  trx: Trx,
  table: keyof Tables,
  columns: BulkColumns,
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  if (rows.length === 0) return
  const dialect = needsRowLocks(trx) ? 'postgres' : 'sqlite'
  const known = statements.get(columns) ?? {}
  known[dialect] ??= selected(columns, dialect)
  statements.set(columns, known)
  const names = sql.join(columns.map(([name]) => sql.ref(name)))
  const source =
    dialect === 'postgres'
      ? sql`jsonb_array_elements(${JSON.stringify(rows)}::jsonb)`
      : sql`json_each(${JSON.stringify(rows)})`
  await sql`insert into ${sql.table(table)} (${names}) select ${known[dialect]} from ${source} as each`.execute(trx)
}

function selected(columns: BulkColumns, dialect: 'sqlite' | 'postgres'): RawBuilder<unknown> {
  return sql.raw(
    columns
      .map(([, kind], at) =>
        dialect === 'postgres' ? `(value ->> ${at})${postgresTypes[kind]}` : `each.value ->> '$[${at}]'`,
      )
      .join(', '),
  )
}
