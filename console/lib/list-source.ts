import { queryOptions } from '@tanstack/react-query'
import type { Endpoint } from '../../contract/api/endpoint.ts'
import { pageSize } from '../../contract/api/endpoint.ts'
import { type CallInput, type CallOptions, callFull } from './call.ts'
import { queryClient } from './query-client.ts'
import type { ListSearch } from './url-state.ts'

/** The parameters of one page of a list. */
export interface PageRequest {
  /** Page number from 0, as the server counts. */
  p: number
  /** Search text; empty = the whole list. */
  keyword: string
  /** Column id, with a leading '-' for descending order; undefined = the server's order. */
  sort: string | undefined
  /** Further query values. */
  filters: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
  /** Rows per page; absent for the server's default. */
  size?: number
}

/**
 * The request for the list that a URL describes. `sorts` is true if the server sorts. `size` is the number of rows per
 * page.
 */
export function pageRequest(
  { page = 1, q = '', sort }: ListSearch,
  filters: PageRequest['filters'],
  sorts = true,
  size = pageSize,
): PageRequest {
  return { p: page - 1, keyword: q, sort: sorts ? sort : undefined, filters, ...(size !== pageSize && { size }) }
}

export interface ListPage<Row> {
  rows: Row[]
  /** Number of all rows; undefined if the server does not report it. */
  total: number | undefined
  /** Number of rows that match the request. Undefined if the server reports only `total`. */
  matching?: number | undefined
  /** If the server searched only the newest rows, the number of rows that it searched; otherwise undefined. */
  searched?: number | undefined
}

/** A list on the server: how its pages are requested, and how changes affect the loaded pages. */
export interface ListSource<Row> {
  key: string
  /** The name under which the user's number of rows per page is stored. Lists of the same rows share a name. */
  sizeName: string
  /** Rows per page, unless the user chose another number. */
  usualSize: number
  /** Whether the server can search the list. */
  searchable: boolean
  /** The query for a page. `quiet` means that the caller shows failures itself. */
  options(request: PageRequest, call?: Pick<CallOptions, 'quiet'>): ReturnType<typeof pageOptions<Row>>
  /** Replaces a row in the loaded pages. */
  patch(matches: (row: Row) => boolean, change: (row: Row) => Row): void
  /** Reloads all loaded pages, or only the pages of the selected requests. */
  refresh(which?: (request: PageRequest) => boolean): Promise<void>
}

/** True if a page is filtered by status. When the status of a row changes, it may join or leave such a page. */
export function isOfOneStatus({ filters }: PageRequest): boolean {
  return filters['status'] !== undefined
}

function pageOptions<Row>(key: string, request: PageRequest, load: (signal: AbortSignal) => Promise<ListPage<Row>>) {
  return queryOptions({
    queryKey: [key, 'list', request],
    queryFn: ({ signal }) => load(signal),
  })
}

/** Creates a list source from its endpoints. If there is a search text, `search` is called instead of `list`. */
export function listSource<Row>(key: string, endpoints: { list: Endpoint; search?: Endpoint }): ListSource<Row> {
  return listSourceOf(key, endpoints.search !== undefined, ({ keyword }) =>
    keyword !== '' && endpoints.search ? endpoints.search : endpoints.list,
  )
}

/** Like `listSource`, for lists whose endpoint depends on more than the search text. */
export function listSourceOf<Row>(
  key: string,
  searchable: boolean,
  endpointFor: (request: PageRequest) => Endpoint,
  { sizeName = key, usualSize = pageSize }: Partial<Pick<ListSource<Row>, 'sizeName' | 'usualSize'>> = {},
): ListSource<Row> {
  const inCache = { queryKey: [key, 'list'] }
  return {
    key,
    sizeName,
    usualSize,
    searchable,
    options: (request, call) =>
      pageOptions<Row>(key, request, (signal) => loadPage(endpointFor(request), request, { ...call, signal })),
    patch(matches, change) {
      queryClient.setQueriesData<ListPage<Row>>(
        inCache,
        (page) => page && { ...page, rows: page.rows.map((row) => (matches(row) ? change(row) : row)) },
      )
    },
    refresh: (which = () => true) =>
      queryClient.invalidateQueries({ ...inCache, predicate: ({ queryKey }) => which(queryKey[2] as PageRequest) }),
  }
}

async function loadPage<Row>(endpoint: Endpoint, request: PageRequest, options: CallOptions): Promise<ListPage<Row>> {
  const { p, keyword, sort, filters, size } = request
  const query = {
    p,
    ...(size !== undefined && { size }),
    ...(keyword !== '' && { keyword, size: size ?? pageSize }),
    ...(sort !== undefined && { sort: sort.replace(/^-/, ''), order: sort.startsWith('-') ? 'desc' : 'asc' }),
    ...filters,
  }
  const answer = await callFull(endpoint, { query } as object as CallInput<Endpoint>, options)
  return {
    rows: (answer.data ?? []) as Row[],
    total: answer.total,
    matching: answer.matching,
    searched: answer.searched,
  }
}
