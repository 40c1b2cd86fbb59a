import { type ListSearch, parseListSearch, type RawSearch } from '../../lib/url-state.ts'

/** The state of the user list, stored in the URL. */
export type UserSearch = ListSearch

/** Reads the query of the list of users. */
export function parseUserSearch(raw: RawSearch): UserSearch {
  return parseListSearch(raw)
}
