import { useQueries } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { pageSize } from '../../../contract/api/endpoint.ts'
import { type ListPage, type ListSource, type PageRequest, pageRequest } from '../../lib/list-source.ts'
import { observable, useObservable } from '../../lib/observable.ts'
import { choosePageSize, chosenPageSize, pageSizeChoices } from '../../lib/page-size.ts'
import { queryClient } from '../../lib/query-client.ts'
import { sessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { text } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import type { ListSearch } from '../../lib/url-state.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'

/** The state of a list on a page. */
export interface ListState<Row> {
  /**
   * The rows of the page. With `sortsLoaded`, these are all loaded rows, which the table itself sorts and divides into
   * pages.
   */
  rows: Row[]
  page: number
  /** The number of reachable pages. This may include one that is not loaded yet. */
  pages: number
  /** Rows per page; if omitted, the server's page size is used. */
  size?: number
  /** Changes the number of rows per page; undefined if the server does not support it. */
  onSize?: ((size: number) => void) | undefined
  /** Number of all rows, if the server reports it. */
  total: number | undefined
  /**
   * Number of rows that match the request, whether or not the list covers them; undefined while the number is unknown.
   */
  matching: number | undefined
  /** If the list covers only the newest of the matching rows, the number of rows that it covers. */
  cutTo?: number | undefined
  /** If not all rows were searched for matches, the number of newest rows that were searched. */
  searched?: number | undefined
  /** The server does not sort, so the table sorts the loaded rows. */
  sortsLoaded: boolean
  /** There is nothing to show yet. */
  loading: boolean
  /** The list is reloading while rows are shown. */
  refreshing: boolean
  error: Error | null
  /** The rows belong to an earlier request, because the current request failed. */
  stale: boolean
  /** Changes whenever the search text or the filters change, because the list then contains different rows. */
  narrowing: string
  /** The rows belong to the current request, not to an earlier one. */
  settled: boolean
  /** The time at which the rows arrived, in epoch milliseconds. */
  answeredAt: number
  retry(): void
  prefetch(page: number): void
}

/**
 * Whether the server counts and sorts. Tollgate does, and returns the total with every list. Other servers send one
 * page at a time, and each page is appended to the pages already loaded.
 */
const counts = observable(true)

/** Loads the list that the URL describes. Each page is a separate request. */
export function useList<Row>(
  source: ListSource<Row>,
  search: ListSearch,
  setSearch: SetSearch<ListSearch>,
  filters: PageRequest['filters'] = {},
): ListState<Row> {
  const page = search.page ?? 1
  const keyword = search.q ?? ''
  const serverCounts = useObservable(counts)
  const classic = useClassicServer()
  useObservable(pageSizeChoices)
  const size = classic || !serverCounts ? pageSize : chosenPageSize(source.sizeName, source.usualSize)
  const filterKey = JSON.stringify(filters)
  const request = useCallback(
    (of: number) =>
      pageRequest(
        { page: of, q: keyword, sort: search.sort },
        JSON.parse(filterKey) as PageRequest['filters'],
        serverCounts,
        size,
      ),
    [keyword, search.sort, serverCounts, filterKey, size],
  )
  // A server that does not count returns all matches of a search at once.
  const wholeSearch = !serverCounts && keyword !== ''
  const narrowing = `${keyword} ${filterKey}`
  const reached = useReached(page, narrowing)
  const wanted = wholeSearch ? [1] : serverCounts ? [page] : Array.from({ length: reached }, (_, index) => index + 1)
  // The previous rows stay visible until another page, order or search has loaded, unless they belong to another user
  // or source. If pages are appended, the previous rows are not kept, because they would appear twice.
  const before = useRef<Answer<Row>>(undefined)
  const reader = sessionUser()?.id
  const known = before.current
  const kept = serverCounts && known?.source === source && known.reader === reader ? known.page : undefined
  const results = useQueries({
    queries: wanted.map((of) => ({ ...source.options(request(of)), placeholderData: kept })),
  })
  const last = results.at(-1)
  useEffect(() => {
    if (last?.data && !last.isPlaceholderData)
      before.current = { source, reader, narrowing, page: last.data, at: last.dataUpdatedAt }
  }, [source, reader, narrowing, last?.data, last?.dataUpdatedAt, last?.isPlaceholderData])
  const waiting = last?.isPlaceholderData === true

  useEffect(() => {
    const first = results.find((result) => result.data && !result.isPlaceholderData)?.data
    if (first) counts.set(first.total !== undefined)
  }, [results])

  const loaded = useJoined(results.map((result) => result.data?.rows))
  const total = serverCounts ? last?.data?.total : wholeSearch ? loaded.length : undefined
  const counted = pageCount({ total, size, loaded: loaded.length, page: reached, more: last?.data })
  // While the new page loads, the number of matches for the current request is not known.
  const pages = waiting ? Math.max(page, counted) : counted
  useStepBack({ page, pages, ready: last?.isSuccess === true && !last.isPlaceholderData, setSearch })

  return {
    rows: loaded,
    page: Math.min(page, pages),
    pages,
    total,
    ...(serverCounts && { size }),
    onSize:
      serverCounts && !classic
        ? (next) => {
            choosePageSize(source.sizeName, next)
            setSearch({ page: undefined })
          }
        : undefined,
    // If only the page or the order changes, the previous numbers remain correct.
    matching: waiting && known?.narrowing !== narrowing ? undefined : (last?.data?.matching ?? total),
    cutTo: total !== undefined && (last?.data?.matching ?? 0) > total ? total : undefined,
    searched: waiting ? undefined : last?.data?.searched,
    sortsLoaded: !serverCounts,
    loading: results.some((result) => result.isPending),
    refreshing: results.some((result) => result.isFetching && !result.isPending),
    error: results.find((result) => result.error)?.error ?? null,
    stale: results.some((result) => result.error && result.data),
    narrowing,
    settled: results.every((result) => result.isSuccess && !result.isPlaceholderData),
    answeredAt: waiting ? (known?.at ?? 0) : Math.max(...results.map((result) => result.dataUpdatedAt)),
    retry: () => void Promise.all(results.map((result) => result.refetch())),
    prefetch: (of) => {
      if (of <= pages && !wholeSearch) void queryClient.prefetchQuery(source.options(request(of), { quiet: true }))
    },
  }
}

/** The last page that arrived, with its request and its user. */
interface Answer<Row> {
  source: ListSource<Row>
  reader: number | undefined
  narrowing: string
  page: ListPage<Row>
  /** The time at which the page arrived, in epoch milliseconds. */
  at: number
}

/** All pages as one list. The array stays the same while the pages are the same, so that nothing is sorted twice. */
function useJoined<Row>(pages: readonly (Row[] | undefined)[]): Row[] {
  const joined = useRef<{ pages: typeof pages; rows: Row[] }>({ pages: [], rows: [] })
  const before = joined.current.pages
  if (before.length !== pages.length || before.some((page, index) => page !== pages[index]))
    joined.current = { pages, rows: pages.flatMap((page) => page ?? []) }
  return joined.current.rows
}

/** The highest page visited. Loaded pages are kept, so that sorting covers all of them. */
function useReached(page: number, list: string): number {
  const reached = useRef({ list, page })
  if (reached.current.list !== list) reached.current = { list, page }
  reached.current.page = Math.max(reached.current.page, page)
  return reached.current.page
}

interface Counted {
  size: number
  total: number | undefined
  loaded: number
  page: number
  more: ListPage<unknown> | undefined
}

/** The number of pages. Without a known total, another page may follow if the last page is full. */
function pageCount({ total, size, loaded, page, more }: Counted): number {
  if (total !== undefined) return Math.max(1, Math.ceil(total / size))
  const full = more === undefined || (more.rows.length > 0 && more.rows.length % pageSize === 0)
  return Math.max(1, Math.ceil(loaded / pageSize) + (full && loaded >= page * pageSize ? 1 : 0))
}

/** If a page turns out to be empty, goes back to the last page with rows and shows a toast. */
function useStepBack(of: { page: number; pages: number; ready: boolean; setSearch: SetSearch<ListSearch> }): void {
  const { page, pages, ready, setSearch } = of
  useEffect(() => {
    if (!ready || page <= pages) return
    setSearch({ page: pages > 1 ? pages : undefined }, { replace: true })
    toast.info(text('table.lastPage'))
  }, [page, pages, ready, setSearch])
}
