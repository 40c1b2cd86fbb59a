import type { FetchQueryOptions, QueryKey } from '@tanstack/react-query'
import { basePath } from './base-path.ts'
import { CallError, showFailure } from './call.ts'
import { type ListSource, type PageRequest, pageRequest } from './list-source.ts'
import { queryClient } from './query-client.ts'
import { sessionUser } from './session.ts'
import { hasMoreCalls, serverStatus } from './status.ts'
import { comparablePath, type ListSearch, parseQuery, type RawSearch } from './url-state.ts'

interface FirstLook<Row, S extends ListSearch> {
  path: string
  /** Least role that may see the list. */
  role: number
  source: ListSource<Row>
  parse(raw: RawSearch): S
  filters?(search: S): PageRequest['filters']
  /** Whether the page shows its list; left out = always. */
  shown?(search: S): boolean
}

/** Whether the address is that of a page, as the router would take it. */
export function isAt(path: string): boolean {
  return comparablePath(location.pathname) === comparablePath(`${basePath}${path}`)
}

/**
 * Asks for something that a page will show, before it is drawn. `query` does not tell of failures by itself: they are told
 * here when somebody waits already, and else by whoever asks again.
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
 * Asks for the page of a list that the address names: called by the list's own module, so that the rows are on their way
 * while its other parts are loaded and React begins. Elsewhere it asks for nothing, and neither for filters of a server
 * that may not know them.
 */
export function firstLook<Row, S extends ListSearch>(of: FirstLook<Row, S>): void {
  const { path, role, source, parse, filters, shown } = of
  if (!isAt(path) || (sessionUser()?.role ?? 0) < role) return
  const search = parse(parseQuery(location.search))
  if (shown && !shown(search)) return
  const chosen = filters?.(search) ?? {}
  const isFiltered = Object.values(chosen).some((value) => value !== undefined)
  if (isFiltered && !hasMoreCalls(serverStatus())) return
  askFirst(source.options(pageRequest(search, chosen), { quiet: true }))
}
