import { Database } from 'bun:sqlite'
import pg from 'pg'

/**
 * The number of prepared statements that the SQLite driver caches. A single rollup of the usage has more queries than
 * the driver caches by default, so it would have to prepare all of them each time.
 */
const preparedStatements = 100

/** Settings that the database drivers of this process share. Every store sets the same values. */
export function setDriversUp(): void {
  Database.MAX_QUERY_CACHE_SIZE = preparedStatements
  // PostgreSQL's bigint is wider than a JavaScript number, but quotas and times stay far below 2^53.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
}
