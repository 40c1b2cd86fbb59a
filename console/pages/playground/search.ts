import type { RawSearch } from '../../lib/url-query.ts'
import { someText, wholeNumber } from '../../lib/url-state.ts'

/** The state of the playground, stored in the URL. */
export interface PlaygroundSearch {
  /** Id of the token that is used for calls. */
  token?: number | undefined
  model?: string | undefined
  /** More models that receive the same questions. May have several values (see `lib/several.ts`). */
  compare?: string | undefined
}

/** Reads the query of the playground. */
export function parsePlaygroundSearch(raw: RawSearch): PlaygroundSearch {
  return {
    token: wholeNumber(raw['token'], 1),
    model: someText(raw['model']),
    compare: someText(raw['compare']),
  }
}
