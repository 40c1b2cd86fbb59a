import { CompiledQuery, sql } from 'kysely'
import type { OpenedStore } from '../connection/open-options.ts'
import { createCoverTimes } from '../logs/partitions/add-months.ts'
import { lockSchema, migrateWithin } from '../migrations/migrate.ts'
import type { Trx } from '../store.ts'
import { requireColumns, visitParts } from './check-parts.ts'
import type { LoadSource } from './load-source.ts'
import { columnsOfPostgres } from './read-postgres.ts'
import type { Column, ColumnKind, Value } from './snapshot.ts'
import { looseSequences, tableNames } from './table-policy.ts'

/**
 * Replaces the contents of a database with a snapshot. This is one transaction, so nothing changes if the process ends
 * early. A server that starts in the meantime waits until the transaction ends. `mayBegin` is called when such servers
 * have to wait, before anything is changed. If it throws, the transaction is rolled back.
 */
export async function loadPostgres(
  store: OpenedStore,
  source: LoadSource,
  mayBegin: () => Promise<void>,
): Promise<Record<string, number>> {
  const write = store.writeUnlimited ?? store.write
  const rows = await write(async (trx) => {
    const coverTimes = createCoverTimes(Math.floor(Date.now() / 1000))
    await lockSchema(trx, 'postgres')
    await mayBegin()
    await dropAll(trx)
    await migrateWithin(trx, 'postgres', new Set(source.migrations))
    const counts = await visitParts(source.parts(), {
      async table(name, columns) {
        const present = await columnsOfPostgres(
          (text, values) => trx.executeQuery(CompiledQuery.raw(text, [...values])),
          name,
        )
        requireColumns(name, columns, present)
        // Empties the table, because migrations may already have inserted rows.
        await sql`delete from ${sql.table(name)}`.execute(trx)
        const time = name === 'logs' ? columns.findIndex((column) => column.name === 'created_at') : -1
        return async (rows) => {
          if (time >= 0)
            await coverTimes(
              trx,
              rows.map((row) => Number(row[time])),
            )
          await insert(trx, name, columns, rows)
        }
      },
      end: (name, next) => setNext(trx, name, next),
    })
    await migrateWithin(trx, 'postgres')
    return counts
  })
  await sql`analyze`.execute(store.read)
  return rows
}

const casts: Readonly<Record<ColumnKind, string>> = {
  integer: '::bigint',
  real: '::double precision',
  boolean: '::boolean',
  text: '',
}

/**
 * Inserts all rows with one statement. The rows are a single JSON parameter, because PostgreSQL limits the number of
 * parameters.
 */
async function insert(trx: Trx, table: string, columns: readonly Column[], rows: Value[][]): Promise<void> {
  const list = columns.map(({ name }) => `"${name}"`).join(', ')
  const values = columns.map(({ kind }, at) => `(r ->> ${at})${casts[kind]}`).join(', ')
  // `json_array_elements` keeps the order, so that rows are stored in the order of their keys.
  await sql`insert into ${sql.table(table)} (${sql.raw(list)})
    select ${sql.raw(values)} from json_array_elements(${storable(rows)}::json) as t (r)`.execute(trx)
}

/** The rows as JSON. PostgreSQL cannot store NUL in a text, so NUL becomes the replacement character. */
function storable(rows: Value[][]): string {
  const hasNul = rows.some((row) => row.some((value) => typeof value === 'string' && value.includes('\0')))
  if (!hasNul) return JSON.stringify(rows)
  return JSON.stringify(
    rows.map((row) => row.map((value) => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value))),
  )
}

async function setNext(trx: Trx, table: string, next: number): Promise<void> {
  if (next <= 1) return
  await sql`select setval(pg_get_serial_sequence(${`"${table}"`}, 'id'), ${next - 1}, true)`.execute(trx)
}

/** Removes the tables, sequences and functions of Tollgate. Other contents of the database are kept. */
async function dropAll(trx: Trx): Promise<void> {
  const names = [...tableNames, 'schema_migrations'].map((name) => `"${name}"`).join(', ')
  await sql.raw(`drop table if exists ${names} cascade`).execute(trx)
  for (const name of looseSequences) await sql`drop sequence if exists ${sql.id(name)}`.execute(trx)
  const { rows } = await sql<{ name: string }>`
    select p.oid::regprocedure::text as name from pg_proc p
    where p.pronamespace = current_schema()::regnamespace and p.proname like 'tollgate\\_%'`.execute(trx)
  for (const { name } of rows) await sql.raw(`drop function ${name} cascade`).execute(trx)
}
