import type { UsageSearch } from './search.ts'

/** The filters of the usage page. All of them filter by name, except the channel filter, which uses the id. */
export const shownFilters = ['model', 'token', 'user', 'channel'] as const

export type UsageFilter = (typeof shownFilters)[number]

/**
 * Only administrators can group and filter by user and channel. All other groupings and filters are available to
 * everybody, for their own usage.
 */
export function isFor(admin: boolean, name: string): boolean {
  return admin || (name !== 'user' && name !== 'channel')
}

/** True for a valid channel id; channel ids start at 1. */
export function isChannelId(text: string | undefined): text is string {
  return /^[1-9]\d{0,14}$/.test(text ?? '')
}

/** A search without filters. */
export const noFilters = {
  model: undefined,
  token: undefined,
  user: undefined,
  channel: undefined,
} as const satisfies UsageSearch

/** A search in which nothing is chosen, so that the defaults apply. */
export const noChoices = {
  metric: undefined,
  group: undefined,
  and: undefined,
  rollup: undefined,
  range: undefined,
  from: undefined,
  to: undefined,
  cumulative: undefined,
  ...noFilters,
  page: undefined,
  q: undefined,
  sort: undefined,
} as const satisfies UsageSearch
