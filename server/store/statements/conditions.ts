import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../store.ts'

const literal = (text: string) => text.replace(/[\\%_]/g, (mark) => `\\${mark}`)

/** The condition that `column` begins with `text`, compared case-insensitively. % and _ have no special meaning. */
export function startsWith(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(${column}) like lower(${`${literal(text)}%`}) escape '\\'`
}

/** Like `startsWith`, but the text may be anywhere in `column`. The query reads every row. */
export function contains(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(${column}) like lower(${`%${literal(text)}%`}) escape '\\'`
}

/**
 * The condition that the comma-separated list in `column` contains `part`. The comparison is case-sensitive, and `part`
 * must not contain a comma.
 */
export function isAmong(column: Expression<string>, part: string): RawBuilder<SqlBool> {
  // LIKE is case-insensitive on SQLite, so the condition is instead that removing the part changes the list.
  const parts = sql<string>`(',' || ${column} || ',')`
  return sql<SqlBool>`replace(${parts}, ${`,${part},`}, '') <> ${parts}`
}

/** The keyword as a row id; 0 (no row) if it is not a number. */
export function idOf(keyword: string): number {
  return /^\d{1,15}$/.test(keyword) ? Number(keyword) : 0
}

/**
 * True on PostgreSQL, where a transaction must lock the rows that it reads and then changes. SQLite needs no row locks,
 * because it has a single writer.
 */
export function needsRowLocks(db: Db): boolean {
  // `instanceof` is not used, because the import of other programs is a separate bundle with its own copy of the
  // adapter's class.
  return db.getExecutor().adapter.supportsTransactionalDdl
}
