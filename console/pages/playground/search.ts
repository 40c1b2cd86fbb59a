import { severalOf } from '../../lib/several.ts'
import { type RawSearch, someText, wholeNumber } from '../../lib/url-state.ts'

/** Most models that answer side by side. */
export const mostModels = 4

/** The state of the playground, stored in the URL. */
export interface PlaygroundSearch {
  /** Id of the token that is used for calls. */
  token?: number | undefined
  model?: string | undefined
  /** Further models that receive the same questions, as a state of several values. */
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

/** The further models of a search. */
export function comparedModels({ compare }: PlaygroundSearch): string[] {
  return severalOf(compare).slice(0, mostModels - 1)
}
