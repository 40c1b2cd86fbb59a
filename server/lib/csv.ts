/**
 * Matches the positions at which a spreadsheet would begin a formula: before an operator at the start of a cell, or
 * after a separator that spreadsheets in some countries use. The operator may be a full-width character, and spaces may
 * precede it. An apostrophe at such a position makes the cell a text.
 */
const formulas = /(^|[;\t\r\n])(?=[\s\p{Cf}]*[=+\-@＝＋－＠﹢﹣−])/gu
/** Matches a cell that begins with characters that a spreadsheet may drop. */
const blankStart = /^[\t\r\n]/

/** At the start of a file, tells spreadsheets that it is in UTF-8. */
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

/**
 * One cell of a line. Every text is quoted, because otherwise a character that a spreadsheet treats as a separator
 * would begin a new cell.
 */
function cell(value: Cell): string {
  if (typeof value === 'object') return value.value.toFixed(value.decimals)
  if (typeof value !== 'string') return String(value)
  const text = value.replace(formulas, "$1'")
  const safe = blankStart.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}
