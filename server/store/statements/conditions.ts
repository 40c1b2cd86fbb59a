import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../store.ts'

const literal = (text: string) => text.replace(/[\\%_]/g, (mark) => `\\${mark}`)

/** Rows whose `column` begins with `text`, compared case-insensitively; % and _ are literal. */
export function startsWith(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(${column}) like lower(${`${literal(text)}%`}) escape '\\'`
}

/** Like `startsWith`, for rows that have the text anywhere in `column`. It reads every row. */
export function contains(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(${column}) like lower(${`%${literal(text)}%`}) escape '\\'`
}

/** Rows whose comma-separated `column` contains `part`, which has no comma; case-sensitive. */
export function isAmong(column: Expression<string>, part: string): RawBuilder<SqlBool> {
  // LIKE differs between the two databases; removing the part works the same on both.
  const parts = sql<string>`(',' || ${column} || ',')`
  return sql<SqlBool>`replace(${parts}, ${`,${part},`}, '') <> ${parts}`
}

/** The keyword as a row id, or 0 (no row) if it is not a number. */
export function idOf(keyword: string): number {
  return /^\d{1,15}$/.test(keyword) ? Number(keyword) : 0
}

/** True on PostgreSQL, where rows that are read in order to change them must be locked. SQLite has a single writer. */
export function needsRowLocks(db: Db): boolean {
  // Not by its class: the import is a bundle of its own, and has another copy of this class.
  return db.getExecutor().adapter.supportsTransactionalDdl
}
