import { type Expression, PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../store.ts'

/** Rows of `column` that begin with `text`, letters compared without case; % and _ mean themselves. */
export function startsWith(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  const pattern = `${text.replace(/[\\%_]/g, (mark) => `\\${mark}`)}%`
  return sql<SqlBool>`lower(${column}) like lower(${pattern}) escape '\\'`
}

/** Rows whose comma-separated `column` has `part`, which has no comma; letters count as they are written. */
export function isAmong(column: Expression<string>, part: string): RawBuilder<SqlBool> {
  // Neither database's LIKE compares as the other's does; taking the part away does.
  const parts = sql<string>`(',' || ${column} || ',')`
  return sql<SqlBool>`replace(${parts}, ${`,${part},`}, '') <> ${parts}`
}

/** The keyword as a row id, or 0 (no row) when it is none. */
export function idOf(keyword: string): number {
  return /^\d{1,15}$/.test(keyword) ? Number(keyword) : 0
}

/** True on PostgreSQL, where rows that are read to be changed must be locked; SQLite has one writer. */
export function needsRowLocks(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
