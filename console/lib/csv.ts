export type CsvValue = string | number | boolean | null | undefined

/** One cell as in RFC 4180. Text that a spreadsheet would read as a formula gets an apostrophe in front. */
function cell(value: CsvValue): string {
  if (value === null || value === undefined) return ''
  const plain = String(value)
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Rows as CSV text with a byte order mark, so that spreadsheets read it as UTF-8. */
export function toCsv(header: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  const lines = [header, ...rows].map((row) => row.map(cell).join(','))
  return `\uFEFF${lines.join('\r\n')}\r\n`
}
