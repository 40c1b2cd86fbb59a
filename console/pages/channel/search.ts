import type { RawSearch } from '../../lib/url-query.ts'
import { type ListSearch, oneOf, parseListSearch, someText, wholeNumber } from '../../lib/url-state.ts'

const views = ['board', 'models'] as const
/** Same as `channelStatus` of the contract, copied so that the contract need not be loaded. */
const statuses = ['1', '2', '3'] as const

/** The state of the channel list, stored in the URL. An absent field means no filter. */
export interface ChannelSearch extends ListSearch {
  /** The view; if absent, the list is shown. */
  view?: (typeof views)[number] | undefined
  /** For the list and the health board: the number of a channel type. */
  type?: string | undefined
  /** For the list: the status, from 1 (enabled) to 3 (disabled by the gateway). */
  status?: string | undefined
  /** A group. */
  group?: string | undefined
  /** For the list: a tag. */
  tag?: string | undefined
  /** For the models map: part of a model's name. */
  model?: string | undefined
  /** For the models map and the health board: with `1`, only models or channels with a problem are shown. */
  problems?: string | undefined
  /** For the health board: with `1`, cards are shown instead of a table. */
  cards?: string | undefined
  /** If set, the report on the test of all channels that began at this time (epoch seconds) is open. */
  report?: string | undefined
}

/** Reads the query of the list of channels. */
export function parseChannelSearch(raw: RawSearch): ChannelSearch {
  return {
    ...parseListSearch(raw),
    view: oneOf(raw['view'], views),
    type: wholeNumber(raw['type'], 1)?.toString(),
    status: oneOf(raw['status'], statuses),
    group: someText(raw['group']),
    tag: someText(raw['tag']),
    model: someText(raw['model']?.trim()),
    problems: oneOf(raw['problems'], ['1']),
    cards: oneOf(raw['cards'], ['1']),
    report: wholeNumber(raw['report'], 1)?.toString(),
  }
}
