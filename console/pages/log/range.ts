import { sinceDays } from '../../lib/days.ts'
import type { LogSearch } from './search.ts'

/** Time spans that can be chosen with one click, in seconds. */
export const spans = { '1h': 3600, '24h': 86_400, '7d': 7 * 86_400, '30d': 30 * 86_400 } as const
/** The spans that are counted in days. Their start is computed as on all other pages (`sinceDays`). */
const spanDays: Partial<Record<Span, number>> = { '24h': 1, '7d': 7, '30d': 30 }

export type Span = keyof typeof spans

/** If no end is set, the range ends this many seconds in the future, to allow for clock skew. */
const futureSeconds = 3600

/** The span in a search, if there is one. */
export function spanOf(search: LogSearch): Span | 'all' | 'custom' {
  const { from, to } = search
  if (from === undefined && to === undefined) return 'all'
  return from !== undefined && from in spans && to === undefined ? (from as Span) : 'custom'
}

/** The time range of a search, in epoch seconds; by default from 0 to one hour from now. */
export function rangeOf(search: LogSearch, nowSeconds: number) {
  const span = spanOf(search)
  // Rounded to whole minutes, so that the same view sends the same request for a while.
  const end = Math.ceil((nowSeconds + futureSeconds) / 60) * 60
  if (span === 'all') return { start: 0, end }
  if (span === 'custom') return { start: whole(search.from) ?? 0, end: whole(search.to) ?? end }
  const days = spanDays[span]
  return { start: days ? sinceDays(days, nowSeconds) : Math.floor((nowSeconds - spans[span]) / 60) * 60, end }
}

/** A whole number of at least 0 from a URL; undefined if the text is anything else. */
export function whole(text: string | undefined): number | undefined {
  const value = Number(text)
  return text !== undefined && Number.isInteger(value) && value >= 0 ? value : undefined
}
