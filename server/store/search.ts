import { type Expression, PostgresAdapter, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from './store.ts'

/** Rows of `column` that begin with `text`, letters compared without case; % and _ mean themselves. */
export function startsWith(column: Expression<string>, text: string): RawBuilder<SqlBool> {
  const pattern = `${text.replace(/[\\%_]/g, (mark) => `\\${mark}`)}%`
  return sql<SqlBool>`lower(${column}) like lower(${pattern}) escape '\\'`
}

/** The keyword as a row id, or 0 (no row) when it is none. */
export function idOf(keyword: string): number {
  return /^\d{1,15}$/.test(keyword) ? Number(keyword) : 0
}

/** True on PostgreSQL, where rows that are read to be changed must be locked; SQLite has one writer. */
export function needsRowLocks(db: Db): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
