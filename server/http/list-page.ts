import type { Listed, Page } from '../store/statements/page.ts'
import type { AppContext } from './app-env.ts'

interface ListQuery<Column extends string> {
  p: number
  size: number
  sort?: Column | undefined
  order?: Column | 'asc' | 'desc' | undefined
}

/** The page that a list query requests; newest first by default. */
export function pageOf<Column extends string>(query: ListQuery<Column>): Page<Column | 'id'> {
  const { p, size, sort, order } = query
  const column = order === 'asc' || order === 'desc' ? sort : (sort ?? order)
  return { offset: p * size, limit: size, sort: column ?? 'id', descending: order !== 'asc' }
}

/**
 * Returns the rows of a list. The row counts are sent in headers, because one-api's response envelope has no fields for
 * them.
 */
export function listed<Row>(c: AppContext, { rows, total, matching, searched }: Listed<Row>): Row[] {
  c.header('X-Total-Count', String(total))
  if (matching !== undefined) c.header('X-Matching-Count', String(matching))
  if (searched !== undefined) c.header('X-Searched-Count', String(searched))
  return rows
}
