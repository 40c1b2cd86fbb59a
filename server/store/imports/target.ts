import { sql } from 'kysely'
import { roles } from '../../../contract/roles.ts'
import { needsRowLocks } from '../statements/conditions.ts'
import type { Db, Trx } from '../store.ts'

/** The tables whose rows are imported with their ids. */
export type NumberedTable = 'users' | 'tokens' | 'channels' | 'redemptions' | 'logs'

/** The only account of an installation in which nothing has happened yet. */
export interface LoneRoot {
  id: number
  hasAccessToken: boolean
}

/**
 * The root account of an unused installation; undefined if there is another account, a channel, a redemption code or a
 * log row, or if the account has used quota.
 */
export async function loneRoot(db: Db): Promise<LoneRoot | undefined> {
  const users = await db
    .selectFrom('users')
    .select(['id', 'role', 'used_quota', 'access_token_hash'])
    .limit(2)
    .execute()
  const [root] = users
  if (users.length !== 1 || !root || root.role !== roles.root || root.used_quota !== 0) return undefined
  for (const table of ['channels', 'redemptions', 'logs'] as const) {
    if (await db.selectFrom(table).select('id').limit(1).executeTakeFirst()) return undefined
  }
  return { id: root.id, hasAccessToken: root.access_token_hash !== null }
}

/** The values that must be unique in a table, each with the id of the row that has it. */
export async function takenTexts(
  db: Db,
  table: 'users' | 'tokens' | 'redemptions',
  column: string,
): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: number; text: string }>`
    select id, ${sql.ref(column)} as text from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(db)
  return new Map(rows.map(({ id, text }) => [text, id]))
}

/** The ids that exist in a table. */
export async function takenIds(db: Db, table: NumberedTable): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`select id from ${sql.table(table)}`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

/** Reserves all ids up to `upTo`, so that rows with these ids can be inserted. New rows get higher ids from now on. */
export async function reserveIds(trx: Trx, table: NumberedTable, upTo: number): Promise<void> {
  if (needsRowLocks(trx)) {
    await sql`select setval(pg_get_serial_sequence(${table}, 'id'),
      greatest(${upTo}::bigint, nextval(pg_get_serial_sequence(${table}, 'id'))))`.execute(trx)
    return
  }
  const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(trx)
  const known = rows[0]?.seq
  if (known === undefined) await sql`insert into sqlite_sequence (name, seq) values (${table}, ${upTo})`.execute(trx)
  else if (known < upTo) await sql`update sqlite_sequence set seq = ${upTo} where name = ${table}`.execute(trx)
}

/** Ids for `count` new rows. No other process gets them. */
export async function newIds(trx: Trx, table: NumberedTable, count: number): Promise<number[]> {
  if (needsRowLocks(trx)) {
    const { rows } = await sql<{ id: number }>`
      select nextval(pg_get_serial_sequence(${table}, 'id')) as id from generate_series(1, ${count}::int)`.execute(trx)
    return rows.map(({ id }) => Number(id))
  }
  const { rows } = await sql<{ last: number | null }>`
    select max(coalesce((select seq from sqlite_sequence where name = ${table}), 0),
      coalesce((select max(id) from ${sql.table(table)}), 0)) as last`.execute(trx)
  const first = (rows[0]?.last ?? 0) + 1
  await reserveIds(trx, table, first + count - 1)
  return Array.from({ length: count }, (_, at) => first + at)
}
