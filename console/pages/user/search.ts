import type { RawSearch } from '../../lib/url-query.ts'
import { type ListSearch, parseListSearch, texts } from '../../lib/url-state.ts'

/** The state of the user list, stored in the URL. An absent field means no filter. */
export interface UserSearch extends ListSearch {
  role?: string | undefined
  status?: string | undefined
  group?: string | undefined
  /** Only users with a balance below this, in quota units. */
  below?: string | undefined
  /** The tab of the open drawer; absent means the first one. */
  tab?: string | undefined
}

const otherTexts = texts('role', 'status', 'group', 'below', 'tab')

/** Reads the query of the list of users. */
export function parseUserSearch(raw: RawSearch): UserSearch {
  return { ...parseListSearch(raw), ...otherTexts(raw) }
}
