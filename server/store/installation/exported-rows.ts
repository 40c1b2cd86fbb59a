import { type Kysely, sql } from 'kysely'
import type { Db, Store, Trx } from '../store.ts'
import type { ExportedTable } from './exported-tables.ts'

/** A row of any table. */
export type ExportedRow = Record<string, unknown>

/** Tables are accessed by name, so their columns have no types here. */
type AnyDb = Kysely<Record<string, Record<string, unknown>>>
const anyDb = (db: Db | Trx) => db as unknown as AnyDb

const rowsPerStep = 1000
/** SQLite allows about 32,000 values in a statement. */
const valuesPerStep = 10_000
/** The key of the option row that belongs to the secret key of an installation. */
const secretCheckKey = '_secret_check'

/** Runs `work` on one snapshot of the database, so that sums and rows agree even while the server is running. */
export function onSnapshot<T>({ dialect, read }: Store, work: (db: Db) => Promise<T>): Promise<T> {
  const transaction = read.transaction()
  if (dialect === 'sqlite') return transaction.execute(work)
  return transaction.setIsolationLevel('repeatable read').execute(async (trx) => {
    // The lock prevents a partition of the log from being dropped, which would remove rows that this snapshot has not
    // read yet.
    await sql`lock table logs in access share mode`.execute(trx)
    return work(trx)
  })
}

/** All rows of a table in key order. Columns are sorted by name, and values are plain JSON. */
export async function* exportedRows(db: Db, table: ExportedTable): AsyncGenerator<ExportedRow> {
  const held = table.table === 'users' || table.table === 'tokens' ? await heldAmounts(db, table.table) : new Map()
  let after: unknown
  for (let offset = 0; ; offset += rowsPerStep) {
    let query = anyDb(db).selectFrom(table.table).selectAll().limit(rowsPerStep)
    for (const column of table.key) query = query.orderBy(column)
    if (table.table === 'options') query = query.where('key', '<>', secretCheckKey)
    if (!table.numbered) query = query.offset(offset)
    else if (after !== undefined) query = query.where('id', '>', after)
    const rows = await query.execute()
    for (const row of rows) yield plainRow(row, table, Number(held.get(Number(row['id'])) ?? 0))
    if (rows.length < rowsPerStep) return
    after = rows.at(-1)?.['id']
  }
}

/**
 * The quota that open calls hold and processes have leased. Holds and leases are not exported, so their quota is
 * exported as if it had been returned.
 */
async function heldAmounts(db: Db, owner: 'users' | 'tokens'): Promise<Map<number, number>> {
  const id = sql.ref(owner === 'tokens' ? 'token_id' : 'user_id')
  const where = owner === 'tokens' ? sql`where token_limited` : sql``
  const { rows } = await sql<{ id: number; amount: number }>`
    select id, sum(amount) as amount from (
      select ${id} as id, amount from holds ${where} union all select ${id}, amount from leases ${where}) taken
    group by id`.execute(db)
  return new Map(rows.map(({ id, amount }) => [Number(id), Number(amount)]))
}

function plainRow(row: ExportedRow, { table, left = [], booleans = [] }: ExportedTable, held: number): ExportedRow {
  const entries = Object.entries(row)
    .filter(([name]) => !left.includes(name))
    .map(([name, value]): [string, unknown] => {
      if (booleans.includes(name)) return [name, value === null ? null : Boolean(value)]
      return [name, typeof value === 'bigint' ? Number(value) : value]
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const plain = Object.fromEntries(entries)
  const balance = table === 'users' ? 'quota' : 'remain_quota'
  if (held > 0) plain[balance] = Number(plain[balance]) + held
  return plain
}

/** The name of a table with rows that a new installation does not have; '' if there is none. */
export async function contentOf(trx: Trx): Promise<string> {
  for (const table of ['channels', 'tokens', 'logs', 'redemptions'] as const) {
    const row = await trx.selectFrom(table).select('id').limit(1).executeTakeFirst()
    if (row) return table
  }
  const users = await trx.selectFrom('users').select('id').limit(2).execute()
  return users.length > 1 ? 'users' : ''
}

/** Deletes all rows of a table except the row that belongs to the secret key. */
export async function emptyTable(trx: Trx, { table }: ExportedTable): Promise<void> {
  await anyDb(trx)
    .deleteFrom(table)
    .$if(table === 'options', (query) => query.where('key', '<>', secretCheckKey))
    .execute()
}

/** Adds rows with their own keys. */
export async function insertRows(trx: Trx, { table }: ExportedTable, rows: readonly ExportedRow[]): Promise<void> {
  const [first] = rows
  if (!first) return
  const step = Math.max(1, Math.floor(valuesPerStep / Object.keys(first).length))
  for (let start = 0; start < rows.length; start += step)
    await anyDb(trx)
      .insertInto(table)
      .values([...rows.slice(start, start + step)])
      .execute()
}

/** Makes new rows get higher ids than the rows that were added with their own ids. */
export async function raiseSequence(
  trx: Trx,
  dialect: Store['dialect'],
  { table, numbered }: ExportedTable,
): Promise<void> {
  // SQLite raises the next id by itself.
  if (dialect === 'sqlite' || !numbered) return
  await sql`select setval(pg_get_serial_sequence(${table}, 'id'),
    greatest((select coalesce(max(id), 0) from ${sql.table(table)}), 1))`.execute(trx)
}

/** Makes accounts agree with an empty log: all their used quota counts as unlogged. */
export async function declareUnlogged(trx: Trx): Promise<void> {
  for (const table of ['users', 'tokens', 'channels'] as const)
    await trx
      .updateTable(table)
      .set((eb) => ({ unlogged_quota: eb.ref('used_quota') }))
      .execute()
}

/** Makes the caps of channels count only calls that are logged from now on. */
export async function startCaps(trx: Trx): Promise<void> {
  await sql`update caps set first_log = coalesce((select max(id) from logs), 0)`.execute(trx)
}
