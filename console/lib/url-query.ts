/** The raw query of an address; each value is text or undefined. */
export type RawSearch = Readonly<Record<string, string | undefined>>

/**
 * Reads an address's query. Every value is the literal text; nothing is converted. The values of a repeated name are
 * lines of one text.
 */
export function parseQuery(query: string): Record<string, string> {
  const params = new URLSearchParams(query)
  return Object.fromEntries([...params.keys()].map((name) => [name, params.getAll(name).join('\n')]))
}

/** Writes a query; empty, undefined and false values are omitted, and each line of a text is a value of its own. */
export function writeQuery(search: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value === undefined || value === null || value === '' || value === false) continue
    for (const line of String(value).split('\n')) params.append(name, line)
  }
  const query = params.toString()
  return query === '' ? '' : `?${query}`
}

/** Normalises a path, because the router treats a path in capitals, or with a final slash, as the same path. */
export const comparablePath = (path: string) => path.replace(/\/+$/, '').toLowerCase()
