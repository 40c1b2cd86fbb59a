// Parameters of the ledger's functions. Lists of numbers and texts cost the database less than JSON documents.

/** A list of numbers, as PostgreSQL writes it. */
export function numbers(values: readonly (number | null | undefined)[]): string {
  let list = ''
  for (const value of values) list += list === '' ? (value ?? 'null') : `,${value ?? 'null'}`
  return `{${list}}`
}

const isPlainText = /^[\w.:/@+ -]*$/

/** A list of texts, as PostgreSQL writes it. PostgreSQL's text cannot contain NUL, so NUL is removed. */
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
 * A value as JSON that PostgreSQL can store. Its text type cannot store NUL or half of a surrogate pair, but a model
 * name or an upstream's message may contain them. JSON writes both as escapes, which the quick check finds. The check
 * also matches some texts with a literal backslash, which does no harm.
 */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value)
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return json
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? part.replaceAll('\0', '').toWellFormed() : part,
  )
}
