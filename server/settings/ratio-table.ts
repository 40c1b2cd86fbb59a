/**
 * Parses the JSON texts of the ratio options without rounding errors. Each text is an object that maps names to
 * numbers.
 */

import { decimalText, scaleDecimal } from '../lib/decimal.ts'
import { messageOf } from '../lib/message-of.ts'

/** Ratios in millionths, by name. */
export type RatioTable = ReadonlyMap<string, bigint>

/**
 * A table, or the reason why the text is not a valid table. `rounded` lists the names of entries that had more than six
 * decimals.
 */
export type ParsedRatioTable =
  | { readonly ok: true; readonly table: RatioTable; readonly rounded: readonly string[] }
  | { readonly ok: false; readonly error: string }

/** The largest ratio, or price of a call in currency units, that a table may contain. */
const largestRatio = 1_000_000

/**
 * Parses the text of a ratio option. It must be one JSON object whose values are numbers from 0 to `largestRatio`.
 * Ratios have six decimals. A ratio with more decimals is rounded to the nearest millionth, and its name is listed in
 * `rounded`. A non-zero value that would round to 0 is an error, because it would make a model free. An empty text is
 * not a valid table, so that clearing a field by mistake does not delete all prices.
 */
export function readRatioTable(text: string): ParsedRatioTable {
  if (text.trim() === '') return { ok: false, error: 'must be a JSON object of names and numbers; {} is an empty one' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, error: `not valid JSON: ${messageOf(error)}` }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, error: 'must be a JSON object of names and numbers' }
  }
  return ratioTableOf(value)
}

/** Like `readRatioTable`, for an object that is already parsed. */
export function ratioTableOf(entries: object): ParsedRatioTable {
  const table = new Map<string, bigint>()
  const rounded: string[] = []
  for (const [name, entry] of Object.entries(entries)) {
    const parsed = parseEntry(entry)
    if ('error' in parsed) return { ok: false, error: `"${name}": ${parsed.error}` }
    table.set(name, parsed.value)
    if (parsed.rounded) rounded.push(name)
  }
  return { ok: true, table, rounded }
}

type ParsedEntry = { readonly value: bigint; readonly rounded: boolean } | { readonly error: string }

/**
 * Parses an entry from the text of its number. JavaScript prints a number as the shortest decimal with the same value,
 * which for up to fifteen digits is the original text.
 */
function parseEntry(entry: unknown): ParsedEntry {
  if (typeof entry !== 'number' || !Number.isFinite(entry)) return { error: 'must be a number' }
  if (entry < 0) return { error: 'must not be negative' }
  if (entry > largestRatio) return { error: `must not be more than ${largestRatio}` }
  const scaled = entry < 1e-12 ? { value: 0n, rounded: entry > 0 } : scaleDecimal(String(entry), 6)
  if (!scaled) return { error: 'must be a number' }
  if (scaled.value === 0n && entry > 0) return { error: 'must be 0 or at least 0.000001' }
  return scaled
}

/**
 * Validates the JSON text of a ratio option and returns it as an object, with values rounded to six decimals. Throws an
 * Error whose message says what is wrong. See `readRatioTable` for the rules.
 */
export function parseRatioTable(text: string): Readonly<Record<string, number>> {
  const parsed = readRatioTable(text)
  if (!parsed.ok) throw new Error(parsed.error)
  return Object.fromEntries([...parsed.table].map(([name, ratio]) => [name, Number(decimalText(ratio, 6))]))
}
