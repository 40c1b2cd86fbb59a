import { type ListSearch, parseListSearch, type RawSearch, texts } from '../../lib/url-state.ts'

/** The state of the models page in its address. */
export interface ModelSearch extends ListSearch {
  /** A kind of call, such as `chat`; absent: all. */
  kind?: string | undefined
  /** Admins only: whose prices are shown; absent: those of the user's own group. */
  group?: string | undefined
}

const otherTexts = texts('kind', 'group')

/** Reads the query of the page of models. */
export function parseModelSearch(raw: RawSearch): ModelSearch {
  return { ...parseListSearch(raw), ...otherTexts(raw) }
}
