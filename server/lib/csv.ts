/**
 * Where a spreadsheet would begin to calculate: at a sign, be it in full width and behind blanks, at the beginning of a cell
 * or behind what some countries part cells with. An apostrophe before it makes it text.
 */
const formulas = /(^|[;\t\r\n])(?=[\s\p{Cf}]*[=+\-@＝＋－＠﹢﹣−])/gu
/** A cell that begins with what a spreadsheet may drop. */
const blankStart = /^[\t\r\n]/

/** Marks the file as UTF-8 for spreadsheets. */
export const byteOrderMark = '\u{FEFF}'

/** One line of CSV (RFC 4180), its line end included. Numbers and booleans are written as they are. */
export function csvLine(cells: readonly (string | number | boolean)[]): string {
  return `${cells.map(cell).join(',')}\r\n`
}

/** Every text is quoted: a part of it behind another separator would else be a cell of its own. */
function cell(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value)
  const text = value.replace(formulas, "$1'")
  const safe = blankStart.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}
