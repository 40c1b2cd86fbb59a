/** Text that a spreadsheet would calculate: it gets an apostrophe before it, which spreadsheets show as text. */
const formula = /^[=+\-@\t\r\n]/

const needsQuotes = /[",\r\n]/

/** Marks the file as UTF-8 for spreadsheets. */
export const byteOrderMark = '\u{FEFF}'

/** One line of CSV (RFC 4180), its line end included. Numbers and booleans are written as they are. */
export function csvLine(cells: readonly (string | number | boolean)[]): string {
  return `${cells.map(cell).join(',')}\r\n`
}

function cell(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value)
  const text = formula.test(value) ? `'${value}` : value
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
