import { type ListSearch, parseListSearch, type RawSearch } from '../../lib/url-state.ts'

/** The state of the user list, stored in its address. */
export type UserSearch = ListSearch

/** Reads the query of the list of users. */
export function parseUserSearch(raw: RawSearch): UserSearch {
  return parseListSearch(raw)
}
