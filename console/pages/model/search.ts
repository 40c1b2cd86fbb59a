import { type ListSearch, parseListSearch, type RawSearch, texts } from '../../lib/url-state.ts'

/** The state of the models page, stored in the URL. */
export interface ModelSearch extends ListSearch {
  /** A kind of call, such as `chat`; if absent, all kinds are shown. */
  kind?: string | undefined
  /** For administrators only: the group whose prices are shown; if absent, the user's own group. */
  group?: string | undefined
}

const otherTexts = texts('kind', 'group')

/** Reads the query of the models page. */
export function parseModelSearch(raw: RawSearch): ModelSearch {
  return { ...parseListSearch(raw), ...otherTexts(raw) }
}
