import { type RawSearch, someText, wholeNumber } from '../../lib/url-state.ts'

/** What the playground keeps in its address. */
export interface PlaygroundSearch {
  /** Id of the token that calls are made with. */
  token?: number | undefined
  model?: string | undefined
  /** A second model that is asked the same. */
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
