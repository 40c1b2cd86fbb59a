import { sinceDays } from '../../lib/days.ts'
import type { LogSearch } from './search.ts'

/** Spans that can be chosen by a click, in seconds. */
export const spans = { '1h': 3600, '24h': 86_400, '7d': 7 * 86_400, '30d': 30 * 86_400 } as const
/** Those that are days, which all pages count alike. */
const spanDays: Partial<Record<Span, number>> = { '24h': 1, '7d': 7, '30d': 30 }

export type Span = keyof typeof spans

/** Logs up to so many seconds after now are shown when no end is set, for clocks that go wrong. */
const futureSeconds = 3600

/** The span that a search names, if it names one. */
export function spanOf(search: LogSearch): Span | 'all' | 'custom' {
  const { from, to } = search
  if (from === undefined && to === undefined) return 'all'
  return from !== undefined && from in spans && to === undefined ? (from as Span) : 'custom'
}

/** The time range of a search, in epoch seconds; from 0 to one hour from now unless it says otherwise. */
export function rangeOf(search: LogSearch, nowSeconds: number) {
  const span = spanOf(search)
  // Whole minutes, so that the same view asks the same question for a while.
  const end = Math.ceil((nowSeconds + futureSeconds) / 60) * 60
  if (span === 'all') return { start: 0, end }
  if (span === 'custom') return { start: whole(search.from) ?? 0, end: whole(search.to) ?? end }
  const days = spanDays[span]
  return { start: days ? sinceDays(days, nowSeconds) : Math.floor((nowSeconds - spans[span]) / 60) * 60, end }
}

/** A whole number that an address holds; undefined where it is none. */
export function whole(text: string | undefined): number | undefined {
  const value = Number(text)
  return text !== undefined && Number.isInteger(value) && value >= 0 ? value : undefined
}
