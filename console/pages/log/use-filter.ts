import { useMemo, useRef } from 'react'
import { filterOf } from './filters.ts'
import type { LogFilter } from './queries.ts'
import type { LogSearch } from './search.ts'

/**
 * Ranges end one hour from now. They are computed again after this many seconds, so that new rows are always within the
 * range.
 */
const renewSeconds = 900

/**
 * The current filter of the list. Its range stays the same while the user turns pages and opens rows, so that the
 * requests stay the same.
 */
export function useFilter(search: LogSearch, everybody: boolean): LogFilter {
  const { page: _page, sort: _sort, peek: _peek, request: _request, ...narrowing } = search
  const asked = JSON.stringify(narrowing)
  const now = Math.floor(Date.now() / 1000)
  const moment = useRef({ asked, seconds: now })
  const { current } = moment
  if (current.asked !== asked || now - current.seconds >= renewSeconds) moment.current = { asked, seconds: now }
  const { seconds } = moment.current
  return useMemo(() => filterOf(search, everybody, seconds), [search, everybody, seconds])
}
