import type { UsageSearch } from './search.ts'

/** What the usage can be narrowed to, each by its name, a channel by its id. */
export const shownFilters = ['model', 'token', 'user', 'channel'] as const

export type UsageFilter = (typeof shownFilters)[number]

/** Users and channels are nobody's business but that of admins; all else everybody sees of their own. */
export function isFor(admin: boolean, name: string): boolean {
  return admin || (name !== 'user' && name !== 'channel')
}

/** Channels are counted from 1. */
export function isChannelId(text: string | undefined): text is string {
  return /^[1-9]\d{0,14}$/.test(text ?? '')
}

/** A search that is narrowed to nothing. */
export const noFilters = {
  model: undefined,
  token: undefined,
  user: undefined,
  channel: undefined,
} as const satisfies UsageSearch

/** A search with nothing chosen. */
export const noChoices = {
  metric: undefined,
  group: undefined,
  rollup: undefined,
  range: undefined,
  from: undefined,
  to: undefined,
  cumulative: undefined,
  ...noFilters,
} as const satisfies UsageSearch
