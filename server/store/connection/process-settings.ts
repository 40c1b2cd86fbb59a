import { Database } from 'bun:sqlite'
import pg from 'pg'

/**
 * A single rollup of the usage has more queries than the runtime caches by default. Without this setting, all of them
 * would be prepared again each time.
 */
const preparedStatements = 100

/** Settings that the database drivers of this process share. Every store sets the same values. */
export function setDriversUp(): void {
  Database.MAX_QUERY_CACHE_SIZE = preparedStatements
  // PostgreSQL's bigint is wider than a JavaScript number, but quotas and times stay far below 2^53.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number)
}
