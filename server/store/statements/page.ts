import { type SelectQueryBuilder, sql } from 'kysely'
import type { Tables } from '../schema/tables.ts'
import type { Db } from '../store.ts'

/** A part of a sorted list. */
export interface Page<Column extends string> {
  offset: number
  limit: number
  sort: Column
  descending: boolean
}

/** Rows of one page and the number of rows on all pages. */
export interface Listed<Row> {
  rows: Row[]
  total: number
  /** How many rows match, for a list that may be truncated. */
  matching?: number
  /** How many rows were searched, if older rows were not. */
  searched?: number
}

/**
 * Counting stops at this number in tables that grow with every call, because nobody pages further and counting millions
 * of rows is slow.
 */
export const mostCounted = 100_000

/**
 * Reads one page of the matching rows. Rows that are equal in the sorted column are in id order. `select` chooses the
 * columns, and may sort by something else before the page's own column. `total` is at most `countLimit`.
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
