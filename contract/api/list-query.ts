import * as z from 'zod/mini'
import { pageQuery, pageSize } from './endpoint.ts'
import { text } from './fields.ts'

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

/** As `numberFilter`, where clients of one-api send NaN for a box that was cleared: that means any, too. */
export function looseNumberFilter(most: number, description: string) {
  const cleared = z.string().check(
    z.overwrite((value) => (/^(?:NaN|undefined|null)$/.test(value) ? '0' : value)),
    z.meta({ type: 'integer', minimum: 0, maximum: most, description }),
  )
  return z._default(z.pipe(cleared, z.coerce.number<string>().check(z.int(), z.gte(0), z.lte(most))), 0)
}

/** A text that lists are narrowed to; an empty one means any. One that is too long is refused, for the same reason. */
export function wordFilter(most: number, description: string) {
  return z._default(text(most).check(z.describe(description)), '')
}
