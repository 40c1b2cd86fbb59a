import type { FetchQueryOptions, QueryKey } from '@tanstack/react-query'
import { basePath } from './base-path.ts'
import { CallError, showFailure } from './call.ts'
import { type ListSource, type PageRequest, pageRequest } from './list-source.ts'
import { chosenPageSize } from './page-size.ts'
import { queryClient } from './query-client.ts'
import { sessionUser } from './session.ts'
import { hasMoreCalls, serverStatus } from './status.ts'
import { comparablePath, parseQuery, type RawSearch } from './url-query.ts'
import type { ListSearch } from './url-state.ts'

interface FirstLook<Row, S extends ListSearch> {
  path: string
  /** Lowest role that may see the list. */
  role: number
  source: ListSource<Row>
  parse(raw: RawSearch): S
  filters?(search: S): PageRequest['filters']
  /** Whether the page shows its list; if omitted, it always does. */
  shown?(search: S): boolean
}

/** Whether the current URL belongs to a page, by the router's matching rules. */
export function isAt(path: string): boolean {
  return comparablePath(location.pathname) === comparablePath(`${basePath}${path}`)
}

/**
 * Requests data for a page before the page is rendered. `query` must not report failures itself. If a component is
 * already waiting for the data, a failure is reported here. Otherwise the component that requests the data again
 * reports it.
 */
export function askFirst<Data, Key extends QueryKey>(query: FetchQueryOptions<Data, Error, Data, Key>): void {
  queryClient.fetchQuery(query).catch((error: unknown) => {
    const { queryKey } = query
    const watched = queryClient.getQueryCache().find({ queryKey, exact: true })?.isActive()
    if (!watched) queryClient.removeQueries({ queryKey, exact: true })
    else if (error instanceof CallError && error.status !== 401) showFailure(error)
  })
}

/**
 * Requests the rows of the list page that the URL specifies. The list's own module calls this, so that the rows are
 * being fetched while its other chunks load and React starts. Nothing is requested if another page is open, or if a
 * filter is set that the server may not support.
 */
export function firstLook<Row, S extends ListSearch>(of: FirstLook<Row, S>): void {
  const { path, role, source, parse, filters, shown } = of
  if (!isAt(path) || (sessionUser()?.role ?? 0) < role) return
  const search = parse(parseQuery(location.search))
  if (shown && !shown(search)) return
  const chosen = filters?.(search) ?? {}
  const isFiltered = Object.values(chosen).some((value) => value !== undefined)
  const hasMore = hasMoreCalls(serverStatus())
  if (isFiltered && !hasMore) return
  const size = hasMore ? chosenPageSize(source.sizeName, source.usualSize) : undefined
  askFirst(source.options(pageRequest(search, chosen, true, size), { quiet: true }))
}
