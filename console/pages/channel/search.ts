import { type ListSearch, oneOf, parseListSearch, type RawSearch, someText } from '../../lib/url-state.ts'

const views = ['board', 'models'] as const

/** What the list of channels keeps in its address. */
export interface ChannelSearch extends ListSearch {
  /** Absent: the list. */
  view?: (typeof views)[number] | undefined
  /** Of the models map: a group. */
  group?: string | undefined
}

/** Reads the query of the list of channels. */
export function parseChannelSearch(raw: RawSearch): ChannelSearch {
  return { ...parseListSearch(raw), view: oneOf(raw['view'], views), group: someText(raw['group']) }
}
