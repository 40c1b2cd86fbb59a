import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { usageValuesApi } from '../../../contract/api/usage-values.ts'
import { call } from '../../lib/call.ts'
import type { FacetName } from '../../lib/facet-search.ts'

/**
 * Selects the values to offer: those of the rows in a time range (epoch seconds), optionally only of the user's own
 * rows.
 */
export interface ValuesOf {
  of: FacetName
  range: { start: number; end: number }
  mine: boolean
}

/** The values of a facet. */
export interface FacetValue {
  is: readonly string[]
  not: readonly string[]
}

const staleMs = 60_000
const hour = 3600

/** The most used values whose name begins with the keyword. The range is extended to whole hours, as on the server. */
export const valuesQuery = ({ of, range, mine }: ValuesOf, keyword: string) => {
  const start_timestamp = Math.floor(range.start / hour) * hour
  const end_timestamp = range.end === 0 ? 0 : Math.ceil(range.end / hour) * hour
  return queryOptions({
    queryKey: ['usage', 'values', of, mine, start_timestamp, end_timestamp, keyword],
    queryFn: ({ signal }) => {
      const query = {
        of: of === 'in' ? ('group' as const) : of,
        keyword,
        start_timestamp,
        end_timestamp,
        ...(mine && { mine: '1' as const }),
      }
      return call(usageValuesApi.values, { query }, { signal, quiet: true })
    },
    staleTime: staleMs,
    placeholderData: keepPreviousData,
  })
}
