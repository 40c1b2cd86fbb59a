import { type LogOutcome, logOutcomes, ownOutcomes, usualSlowSeconds } from '../../../contract/log-outcomes.ts'
import { logType } from '../../../contract/log-types.ts'
import { facetNames, facetQuery, facetsOf, noFacets } from '../../lib/facets.ts'
import { isAdmin, sessionUser } from '../../lib/session.ts'
import { severalOf, severalText } from '../../lib/several.ts'
import { rangeOf, spanOf, spans, whole } from './range.ts'
import type { LogSearch } from './search.ts'

/** A log filter in the server's format, computed for a time in epoch seconds; unset fields are not sent. */
export function filterOf(search: LogSearch, everybody: boolean, nowSeconds: number) {
  const { start, end } = rangeOf(search, nowSeconds)
  return {
    type: whole(search.type) || undefined,
    start_timestamp: start,
    end_timestamp: end,
    ...outcomeFilter(search, everybody),
    ...facetQuery(search, everybody),
  }
}

/** Outcomes that rows must have and must not have. */
export interface OutcomeChoice {
  is: readonly LogOutcome[]
  not: readonly LogOutcome[]
}

/** The outcomes in a search. Outcomes by which this user may not filter are ignored. */
export function outcomeChoice({ outcome, not_outcome }: LogSearch, everybody: boolean): OutcomeChoice {
  const known: readonly LogOutcome[] = everybody ? logOutcomes : ownOutcomes
  const chosen = (text: string | undefined) => known.filter((each) => severalOf(text).includes(each))
  return { is: chosen(outcome), not: chosen(not_outcome) }
}

/** The change that makes a search select these outcomes. Calls that take `seconds` or longer are slow. */
export function outcomePatch({ is, not }: OutcomeChoice, seconds?: number): Partial<LogSearch> {
  const slow = seconds !== undefined && seconds !== usualSlowSeconds ? String(seconds) : undefined
  return { outcome: severalText(is), not_outcome: severalText(not), slow }
}

function outcomeFilter(search: LogSearch, everybody: boolean) {
  const { is, not } = outcomeChoice(search, everybody)
  return {
    ...(is.length > 0 && { outcome: is }),
    ...(not.length > 0 && { not_outcome: not }),
    ...([...is, ...not].includes('slow') && { slow_seconds: whole(search.slow) || usualSlowSeconds }),
  }
}

/** True if the rows of a search may include calls; only calls count as usage. */
export function isOfCalls({ type }: LogSearch): boolean {
  const only = whole(type) ?? 0
  return only === 0 || only === logType.consume
}

const mostDays = 90

/**
 * The usage page's search for the calls that a log search lists. It covers whole hours, and the last 90 days if the log
 * search has no start.
 */
export function usageOf(search: LogSearch, everybody: boolean) {
  const own = !everybody && isAdmin(sessionUser()) ? { user: sessionUser()?.username } : {}
  return { ...usageRange(search), ...facetsOf(search, everybody), ...own }
}

function usageRange(search: LogSearch) {
  const span = spanOf(search)
  if (span === '24h' || span === '7d' || span === '30d') return { range: span }
  const { start, end } = rangeOf(search, Math.floor(Date.now() / 1000))
  const to = search.to === undefined ? undefined : end + 1
  if (start === 0 && to === undefined) return { range: '90d' as const }
  const from = start === 0 && to !== undefined ? to - mostDays * spans['24h'] : start
  return { range: 'custom' as const, from: String(from), to: to?.toString() }
}

/** The number of filters in a search; the time range counts as one. */
export function countOf(search: LogSearch): number {
  const { type, outcome, not_outcome, from, to } = search
  const facets = facetNames.map((name) => search[name] ?? search[`not_${name}`])
  return [type, outcome ?? not_outcome, from ?? to, ...facets].filter((value) => value !== undefined).length
}

/** A search without filters. */
export const noFilters = {
  q: undefined,
  type: undefined,
  outcome: undefined,
  not_outcome: undefined,
  slow: undefined,
  ...noFacets,
  from: undefined,
  to: undefined,
  page: undefined,
} as const satisfies Partial<LogSearch>
