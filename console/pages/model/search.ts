import { type ListSearch, parseListSearch, type RawSearch, texts } from '../../lib/url-state.ts'

/** What the page of models keeps in its address. */
export interface ModelSearch extends ListSearch {
  /** A kind of call, such as `chat`; absent: all. */
  kind?: string | undefined
  /** Admins only: whose prices are shown; absent: those of the own group. */
  group?: string | undefined
}

const otherTexts = texts('kind', 'group')

/** Reads the query of the page of models. */
export function parseModelSearch(raw: RawSearch): ModelSearch {
  return { ...parseListSearch(raw), ...otherTexts(raw) }
}
