import * as z from 'zod/mini'
import { pageQuery, pageSize } from './endpoint.ts'

/** Most rows that one answer holds. */
export const maxPageSize = 100

/**
 * Query of a list: `p`, and ours: `size` (at most 100), `sort` (a column) and `order` (asc or desc). `order` may also
 * name a column, which then sorts descending, as clients of one-api send it. What cannot be read counts as not sent.
 */
export function listQuery<const Columns extends readonly [string, ...string[]]>(columns: Columns, size = pageSize) {
  return z.extend(pageQuery, {
    size: z.catch(
      z.coerce.number<string>().check(z.int(), z.gte(1), z.lte(maxPageSize), z.describe('Rows of a page.')),
      size,
    ),
    sort: z.catch(z.optional(z.enum(columns).check(z.describe('The column to sort by.'))), undefined),
    order: z.catch(
      z.optional(z.enum(['asc', 'desc', ...columns]).check(z.describe('asc, desc, or a column to sort by downwards.'))),
      undefined,
    ),
  })
}

/**
 * A number that lists are narrowed to; 0, as nothing, means any. One that cannot be read is refused: the list of all rows
 * would pass for an answer.
 */
export function numberFilter(most: number, description: string) {
  return z._default(z.coerce.number<string>().check(z.int(), z.gte(0), z.lte(most), z.describe(description)), 0)
}
