import { isObject, type JsonObject, tryParse } from '../lib/json.ts'
import type { SourceDatabase, SourceRow } from './sources/source-database.ts'

/** The largest amount that an account can have, in quota units. Larger amounts in a source are due to overflows. */
export const mostQuota = 1e15

/** A text that both SQLite and PostgreSQL can store: without NUL characters and unpaired surrogates. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Uint8Array) return textOf(Buffer.from(value).toString('utf8'))
  // MySQL can store dates that do not exist, such as 0000-00-00. They become ''.
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString()
  const text = typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed()
}

/** A text that databases accept as a number. JavaScript also accepts other forms, such as hexadecimal numbers. */
const isNumber = /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i

/**
 * A whole number, or `fallback` if it is missing or unreadable. A number that cannot be represented exactly becomes the
 * nearest one that can.
 */
export function integerOf(value: unknown, fallback = 0): number {
  if (value === null || value === undefined || value === '') return fallback
  const number = Math.trunc(typeof value === 'string' && !isNumber.test(value) ? Number.NaN : Number(value))
  if (!Number.isFinite(number)) return fallback
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

/** The SQL expression for an amount, with the same result as `counted`. */
export function countedSql(dialect: SourceDatabase['dialect'], name: string, most = mostCounted): string {
  const column = `"${name}"`
  const inRange = `${column} between ${-most} and ${most}`
  // In SQLite, any column may contain text, so the type of each value is checked.
  if (dialect === 'sqlite')
    return `case when typeof(${column}) in ('integer', 'real') and ${inRange} then cast(${column} as integer) else 0 end`
  return `case when ${inRange} then ${column} else 0 end`
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

/**
 * The year 2100. A later time, or a time before 1970, is an error of the program that wrote it. The exception is -1,
 * which means never.
 */
const lastSecond = Date.UTC(2100, 0) / 1000

/** True if a row is marked as deleted. */
export const isDeleted = (row: SourceRow) => row['deleted_at'] !== null && row['deleted_at'] !== undefined

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
