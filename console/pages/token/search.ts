import type { RawSearch } from '../../lib/url-query.ts'
import { type ListSearch, parseListSearch, texts } from '../../lib/url-state.ts'

/** The state of the token list, stored in the URL. */
export interface TokenSearch extends ListSearch {
  /** A status, as it applies to the token's next request. */
  status?: string | undefined
  project?: string | undefined
  /** Id of a newly created token, whose first steps are shown. */
  start?: string | undefined
  /** Id of a token whose QR code is shown. */
  qr?: string | undefined
}

const otherTexts = texts('status', 'project', 'start', 'qr')

/** Reads the query of the list of tokens. */
export function parseTokenSearch(raw: RawSearch): TokenSearch {
  return { ...parseListSearch(raw), ...otherTexts(raw) }
}
