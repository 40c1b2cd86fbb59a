/** The raw query of a URL. Each value is a text or undefined. */
export type RawSearch = Readonly<Record<string, string | undefined>>

/**
 * Parses the query of a URL. Every value is the literal text; nothing is converted. If a name is repeated, its values
 * become the lines of one text.
 */
export function parseQuery(query: string): Record<string, string> {
  const params = new URLSearchParams(query)
  return Object.fromEntries([...params.keys()].map((name) => [name, params.getAll(name).join('\n')]))
}

/** Writes a query. Empty, undefined and false values are omitted. Each line of a text becomes a separate value. */
export function writeQuery(search: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value === undefined || value === null || value === '' || value === false) continue
    for (const line of String(value).split('\n')) params.append(name, line)
  }
  const query = params.toString()
  return query === '' ? '' : `?${query}`
}

/** Normalises a path for comparison, because the router ignores case and a final slash. */
export const comparablePath = (path: string) => path.replace(/\/+$/, '').toLowerCase()
