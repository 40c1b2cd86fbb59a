// Parameters of the ledger's functions. PostgreSQL reads arrays of numbers and texts faster than JSON documents.

/** An array of numbers in PostgreSQL's text format. */
export function numbers(values: readonly (number | null | undefined)[]): string {
  let list = ''
  for (const value of values) list += list === '' ? (value ?? 'null') : `,${value ?? 'null'}`
  return `{${list}}`
}

const isPlainText = /^[\w.:/@+ -]*$/

/**
 * An array of texts in PostgreSQL's text format. NUL characters are removed, because PostgreSQL's text cannot contain
 * them.
 */
export function texts(values: readonly (string | null)[]): string {
  let list = ''
  for (const value of values) {
    const text = value === null ? 'null' : quoted(value)
    list += list === '' ? text : `,${text}`
  }
  return `{${list}}`
}

function quoted(value: string): string {
  if (isPlainText.test(value)) return `"${value}"`
  return `"${value.replaceAll('\0', '').toWellFormed().replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/**
 * A value as JSON that PostgreSQL can store. PostgreSQL cannot store NUL or half of a surrogate pair, but a model name
 * or an upstream's message may contain them. `JSON.stringify` writes both as escapes, which the regular expression
 * finds. It also matches some texts with a literal backslash, which are then cleaned without need.
 */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value)
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return json
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? part.replaceAll('\0', '').toWellFormed() : part,
  )
}
