import * as z from 'zod/mini'
import { maxFilterValues } from '../filter-values.ts'
import { pageQuery, pageSize } from './endpoint.ts'
import { text } from './fields.ts'

/** The maximum number of rows in one response. */
export const maxPageSize = 100

/**
 * Query of a list. `p` comes from one-api. Tollgate adds `size` (at most 100), `sort` (a column) and `order` (asc or
 * desc). Clients of one-api send the name of a column as `order`, which sorts by that column in descending order. An
 * invalid value is treated as if it were absent.
 */
export function listQuery<const Columns extends readonly [string, ...string[]]>(columns: Columns, size = pageSize) {
  return z.extend(pageQuery, {
    size: z.catch(
      z.coerce.number<string>().check(z.int(), z.gte(1), z.lte(maxPageSize), z.describe('Rows per page.')),
      size,
    ),
    sort: z.catch(z.optional(z.enum(columns).check(z.describe('The column to sort by.'))), undefined),
    order: z.catch(
      z.optional(
        z.enum(['asc', 'desc', ...columns]).check(z.describe('asc, desc, or a column to sort by in descending order.')),
      ),
      undefined,
    ),
  })
}

/**
 * A number to filter a list by; 0 or an absent value means any. An invalid number is refused. If it were ignored, the
 * caller would mistake the full list for the filtered one.
 */
export function numberFilter(most: number, description: string) {
  return z._default(z.coerce.number<string>().check(z.int(), z.gte(0), z.lte(most), z.describe(description)), 0)
}

/** Like `numberFilter`, but NaN also means any: clients of one-api send NaN for a cleared input. */
export function looseNumberFilter(most: number, description: string) {
  const cleared = z.string().check(
    z.overwrite((value) => (/^(?:NaN|undefined|null)$/.test(value) ? '0' : value)),
    z.meta({ type: 'integer', minimum: 0, maximum: most, description }),
  )
  return z._default(z.pipe(cleared, z.coerce.number<string>().check(z.int(), z.gte(0), z.lte(most))), 0)
}

const repeatable = new WeakSet<object>()

/** True for a query field whose parameter may be repeated. The field is parsed as a list of values. */
export function isRepeatable(schema: object): boolean {
  return repeatable.has(schema)
}

const atMost = z.maxLength(maxFilterValues)

/** Texts to filter a list by. For several texts, the parameter is repeated. An empty text means any. */
export function wordsFilter(most: number, description: string) {
  const words = z.array(text(most)).check(atMost, z.overwrite(withoutEmpty), z.describe(description))
  const field = z._default(words, [])
  repeatable.add(field)
  return field
}

const withoutEmpty = <Word extends string>(words: Word[]) => words.filter((word) => word !== '')

/** Like `wordsFilter`, but only accepts words from a list. */
export function choicesFilter<const Choices extends readonly [string, ...string[]]>(
  choices: Choices,
  description: string,
) {
  const chosen = z.array(z.enum(['', ...choices])).check(atMost, z.overwrite(withoutEmpty), z.describe(description))
  const field = z._default(chosen, [])
  repeatable.add(field)
  return field
}

/** Like `wordsFilter`, for positive numbers. 0 and NaN mean any. */
export function numbersFilter(most: number, description: string) {
  const cleared = z.string().check(
    z.overwrite((value) => (/^(?:NaN|undefined|null|)$/.test(value) ? '0' : value)),
    z.meta({ type: 'integer', minimum: 0, maximum: most }),
  )
  const number = z.pipe(cleared, z.coerce.number<string>().check(z.int(), z.gte(0), z.lte(most)))
  const numbers = z.array(number).check(atMost, z.overwrite(withoutZero), z.describe(description))
  const field = z._default(numbers, [])
  repeatable.add(field)
  return field
}

const withoutZero = (numbers: number[]) => numbers.filter((number) => number !== 0)

/**
 * A text to filter a list by; an empty text means any. A text that is too long is refused, for the same reason as an
 * invalid number.
 */
export function wordFilter(most: number, description: string) {
  return z._default(text(most).check(z.describe(description)), '')
}
