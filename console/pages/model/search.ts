import type { RawSearch } from '../../lib/url-query.ts'
import { type ListSearch, parseListSearch, texts } from '../../lib/url-state.ts'

/** The state of the models page, stored in the URL. */
export interface ModelSearch extends ListSearch {
  /** A kind of call, such as `chat`; if absent, all kinds are shown. */
  kind?: string | undefined
  /** The id of a family of models. */
  family?: string | undefined
  /** What the model must read or write: `image`, or `writes-image`. */
  modality?: string | undefined
  /** `tools`, `reasoning` or `open_weights`. */
  ability?: string | undefined
  /** The minimum context length in tokens. */
  context?: string | undefined
  /** The highest input price, in the unit of the price column. */
  price?: string | undefined
  /** Models compared side by side, separated by commas. */
  compare?: string | undefined
  /** For administrators only: the group whose prices are shown; if absent, the user's own group. */
  group?: string | undefined
}

const otherTexts = texts('kind', 'family', 'modality', 'ability', 'context', 'price', 'compare', 'group')

/** Reads the query of the models page. */
export function parseModelSearch(raw: RawSearch): ModelSearch {
  return { ...parseListSearch(raw), ...otherTexts(raw) }
}
