/**
 * Matches where a spreadsheet would start a formula: before an operator (also in full width and after spaces) at the
 * start of a cell, or after a separator that some countries use. An apostrophe before the operator makes it text.
 */
const formulas = /(^|[;\t\r\n])(?=[\s\p{Cf}]*[=+\-@＝＋－＠﹢﹣−])/gu
/** Matches a cell that starts with characters that a spreadsheet may drop. */
const blankStart = /^[\t\r\n]/

/** Marks the file as UTF-8 for spreadsheets. */
export const byteOrderMark = '\u{FEFF}'

/** A number that is written with a fixed number of decimals. */
export interface FixedNumber {
  value: number
  decimals: number
}

type Cell = string | number | boolean | FixedNumber

/** One line of CSV (RFC 4180), including its line end. Numbers and booleans are written as they are. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cell).join(',')}\r\n`
}

/** Every text is quoted. Otherwise a character that a spreadsheet treats as a separator would start a new cell. */
function cell(value: Cell): string {
  if (typeof value === 'object') return value.value.toFixed(value.decimals)
  if (typeof value !== 'string') return String(value)
  const text = value.replace(formulas, "$1'")
  const safe = blankStart.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}
