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

/** The state that every list keeps in its address. */
export interface ListSearch {
  /** Page number from 1; 1 is omitted. */
  page?: number | undefined
  /** Search text. */
  q?: string | undefined
  /** Column id, with a leading '-' for descending order. */
  sort?: string | undefined
  /** Id of the row whose drawer is open. */
  peek?: string | undefined
}

/** A whole number of at least `min`, or undefined. */
export function wholeNumber(value: string | undefined, min = 0): number | undefined {
  const number = Number(value)
  return value !== undefined && value !== '' && Number.isSafeInteger(number) && number >= min ? number : undefined
}

/** The value if it is one of the allowed words, otherwise undefined. */
export function oneOf<T extends string>(value: string | undefined, allowed: readonly T[]): T | undefined {
  return allowed.find((each) => each === value)
}

/** The text if it is not empty, otherwise undefined. */
export function someText(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value
}

/** Makes a parser for a query that consists only of strings. */
export function texts<const Name extends string>(...names: Name[]) {
  return (raw: RawSearch): { [Each in Name]?: string | undefined } =>
    Object.fromEntries(names.map((name) => [name, someText(raw[name])])) as { [Each in Name]?: string | undefined }
}

/** Reads the part of a query that all lists share; a page adds its filters to it. */
export function parseListSearch(raw: RawSearch): ListSearch {
  const page = wholeNumber(raw['page'], 2)
  return { page, q: someText(raw['q']?.trim()), sort: someText(raw['sort']), peek: someText(raw['peek']) }
}

/** Normalises a path, because the router treats a path in capitals, or with a final slash, as the same path. */
export const comparablePath = (path: string) => path.replace(/\/+$/, '').toLowerCase()
