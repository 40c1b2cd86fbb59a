import { type SelectQueryBuilder, sql } from 'kysely'
import type { Tables } from '../schema/tables.ts'
import type { Db } from '../store.ts'

/** A request for one page of a sorted list. */
export interface Page<Column extends string> {
  offset: number
  limit: number
  sort: Column
  descending: boolean
}

/** The rows of one page, and the number of rows on all pages (`total`). */
export interface Listed<Row> {
  rows: Row[]
  total: number
  /** The number of rows that match, for a list that may be truncated. */
  matching?: number
  /** The number of rows that were searched, if not all rows were. */
  searched?: number
}

/**
 * The maximum to which rows are counted in tables that grow with every call. Counting millions of rows is slow, and no
 * person looks at pages after this many rows.
 */
export const mostCounted = 100_000

/**
 * Reads one page of the matching rows. Rows with the same value in the sorted column are in id order. `select` adds the
 * columns to the query, and may also sort by another column first. `total` is at most `countLimit`.
 */
export async function listPage<Table extends keyof Tables, Row>(
  db: Db,
  matching: SelectQueryBuilder<Tables, Table, object>,
  select: (query: SelectQueryBuilder<Tables, Table, object>) => SelectQueryBuilder<Tables, Table, Row>,
  page: Page<string>,
  countLimit?: number,
): Promise<Listed<Row>> {
  const direction = page.descending ? 'desc' : 'asc'
  const rows = await select(matching)
    .$if(page.sort !== 'id', (query) => query.orderBy(sql.ref(page.sort), direction))
    .orderBy(sql.ref('id'), direction)
    .offset(page.offset)
    .limit(page.limit)
    .execute()
  const counted = await db
    .selectFrom(
      matching
        .select(sql<number>`1`.as('one'))
        .$if(countLimit !== undefined, (query) => query.limit(countLimit ?? 0))
        .as('found'),
    )
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { rows, total: Number(counted.total) }
}
