import { isObject, type JsonObject, tryParse } from '../lib/json.ts'
import { columnType, type SourceDatabase, type SourceRow } from './sources/source-database.ts'

/** The largest amount that an account can have, in quota units. Larger amounts in a source are due to overflows. */
export const mostQuota = 1e15

/** A text that both SQLite and PostgreSQL can store: without NUL characters and unpaired surrogates. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Uint8Array) return textOf(Buffer.from(value).toString('utf8'))
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString()
  const text = typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed()
}

/** A text that databases accept as a number. JavaScript also accepts other forms, such as hexadecimal numbers. */
const isNumber = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i

/** A number, which may have a fraction; undefined if the value is missing or is not a number. */
export function numberOf(value: unknown): number | undefined {
  if (value === null || value === undefined || value === '') return undefined
  if (value instanceof Uint8Array) return numberOf(textOf(value))
  const number = typeof value === 'string' && !isNumber.test(value) ? Number.NaN : Number(value)
  return Number.isFinite(number) ? number : undefined
}

/** True if a column has a value, but not one that is a number. */
export const isUnreadable = (row: SourceRow, name: string) =>
  row[name] !== undefined && trimmed(row, name) !== '' && numberOf(row[name]) === undefined

/**
 * A whole number, or `fallback` if it is missing or unreadable. A number that cannot be represented exactly becomes the
 * nearest one that can.
 */
export function integerOf(value: unknown, fallback = 0): number {
  const number = Math.trunc(numberOf(value) ?? fallback)
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, number)) + 0
}

/** The column of a row as a text. */
export const text = (row: SourceRow, name: string) => textOf(row[name])
/**
 * The column of a row as a text without the spaces around it. PostgreSQL, for example, pads char columns with spaces.
 */
export const trimmed = (row: SourceRow, name: string) => textOf(row[name]).trim()
/** The column of a row as a whole number. */
export const integer = (row: SourceRow, name: string, fallback = 0) => integerOf(row[name], fallback)

const mostCounted = Number.MAX_SAFE_INTEGER - 1

/**
 * An amount as the source's totals include it. A number that cannot be represented exactly is the result of an
 * overflow, and counts as 0.
 */
export function counted(row: SourceRow, name: string): number {
  const value = integer(row, name)
  return Math.abs(value) <= mostCounted ? value : 0
}

/** The types whose values are whole numbers, so that they are added up as they are. */
export const wholeTypes = /^(?:tiny|small|medium|big)?int(?:eger)?\b|^(?:small|big)?serial$/

/**
 * A number in a text, as PostgreSQL and MySQL write the pattern. It matches the same texts as `isNumber`, except that
 * the exponent has the given form.
 */
const numberPattern = (exponent: string) =>
  `'^[[:space:]]*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?${exponent})?[[:space:]]*$'`

/**
 * The SQL expression for an amount, with the same result as `counted`. A column that the source lacks counts as 0. The
 * columns of old and hand-made databases are not always integers, so the expression depends on the type.
 */
export function countedSql(
  source: Pick<SourceDatabase, 'dialect' | 'tables' | 'catalogue'>,
  table: string,
  name: string,
  most = mostCounted,
): string {
  if (!source.tables.get(table)?.has(name)) return '0'
  const column = `"${name}"`
  const type = columnType(source, table, name)
  const inRange = (value: string, whole: string) =>
    `case when ${value} between ${-most} and ${most} then ${whole} else 0 end`
  if (source.dialect === 'sqlite') {
    // Any column may contain text. A text is equal to its own number only if all of it is a number.
    const number = `cast(${column} as numeric)`
    const isNumeric = `typeof(${column}) in ('integer', 'real') or cast(${column} as text) = ${number}`
    return `case when ${isNumeric} then ${inRange(number, `cast(${number} as integer)`)} else 0 end`
  }
  if (wholeTypes.test(type)) return inRange(column, column)
  if (source.dialect === 'mysql') {
    if (type === 'bit') return inRange(`(${column} + 0)`, `(${column} + 0)`)
    if (/^(?:decimal|numeric|float|double)/.test(type)) return inRange(column, `truncate(${column}, 0)`)
    const number = `cast(${column} as decimal(65, 20))`
    // MySQL has no patterns for binary texts.
    return `case when cast(${column} as char) regexp ${numberPattern('[0-9]+')} then ${inRange(number, `truncate(${number}, 0)`)} else 0 end`
  }
  if (type === 'boolean') return `coalesce(${column}::int, 0)`
  const number = `(${column}::text::numeric)`
  // A larger exponent is an error in PostgreSQL. In JavaScript, such a number is 0 or infinite, so it counts as 0.
  const isNumeric = `${column}::text ~ ${numberPattern('0*[0-9]{1,3}')}`
  return `case when ${isNumeric} then ${inRange(number, `trunc${number}`)} else 0 end`
}

/** The column of a row as a boolean. */
export function truth(row: SourceRow, name: string): boolean {
  const value = row[name]
  if (typeof value === 'string') return value === '1' || value === 't' || value.toLowerCase() === 'true'
  if (value instanceof Uint8Array) return value.some((byte) => byte !== 0)
  return Boolean(value)
}

/** The column of a row as epoch seconds. Some programs store milliseconds, others a date. */
export function seconds(row: SourceRow, name: string, fallback = 0): number {
  const value = row[name]
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? fallback : Math.floor(value.getTime() / 1000)
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value)) {
    const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value.replace(' ', 'T')}Z`)
    return Number.isNaN(time) ? fallback : Math.floor(time / 1000)
  }
  const number = integerOf(value, fallback)
  // In seconds, this would be the year 5138, so a larger number is in milliseconds.
  const time = number > 1e11 ? Math.floor(number / 1000) : number
  return time >= -1 && time < lastSecond ? time : fallback
}

/** True if a column has a time that `seconds` cannot read. MySQL's date 0000-00-00 is no time, so it is not one of them. */
export const hasUnreadableTime = (row: SourceRow, name: string) =>
  isUnreadable(row, name) && !isZeroDate(row[name]) && seconds(row, name, Number.NaN) !== seconds(row, name, 0)

/**
 * The year 2100. A later time, or a time before 1970, is an error of the program that wrote it. The exception is -1,
 * which means never.
 */
const lastSecond = Date.UTC(2100, 0) / 1000

/** True if a row is marked as deleted. */
export const isDeleted = (row: SourceRow) => row['deleted_at'] !== null && row['deleted_at'] !== undefined

/** True for MySQL's date 0000-00-00, with or without a time. */
export const isZeroDate = (value: unknown) => typeof value === 'string' && value.startsWith('0000-00-00')

/** The column of a row as a JSON object; undefined if it is not one. */
export function object(row: SourceRow, name: string): JsonObject | undefined {
  const value = row[name]
  const parsed = typeof value === 'string' || value instanceof Uint8Array ? tryParse(textOf(value)) : value
  return isObject(parsed) ? parsed : undefined
}

/** An object's field that is itself an object. */
export function inner(value: JsonObject | undefined, name: string): JsonObject | undefined {
  const field = value?.[name]
  return isObject(field) ? field : undefined
}

/** The texts in a list; other entries are skipped. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []
}

/** A ratio or an amount of money, rounded to six decimals, which is the precision of ratios. */
export const rounded = (value: number) => Number(value.toFixed(6))
