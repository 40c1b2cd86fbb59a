import type { RawSearch } from './url-query.ts'

/** The state that every list keeps in its URL. */
export interface ListSearch {
  /** Page number, counted from 1. Page 1 is omitted. */
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

/** Creates a parser for a query that consists only of strings. */
export function texts<const Name extends string>(...names: Name[]) {
  return (raw: RawSearch): { [Each in Name]?: string | undefined } =>
    Object.fromEntries(names.map((name) => [name, someText(raw[name])])) as { [Each in Name]?: string | undefined }
}

/** Reads the part of a query that all lists share. A page adds its own filters. */
export function parseListSearch(raw: RawSearch): ListSearch {
  const page = wholeNumber(raw['page'], 2)
  return { page, q: someText(raw['q']?.trim()), sort: someText(raw['sort']), peek: someText(raw['peek']) }
}
