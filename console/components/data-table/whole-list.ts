import type { UseQueryResult } from '@tanstack/react-query'
import type { ListSearch } from '../../lib/url-state.ts'
import type { ListState } from './use-list.ts'

/** Rows per page of a completely loaded list, which is browsed rather than edited. */
const size = 50

interface WholeList<Row> {
  /** The rows that match the search and the filters. */
  rows: Row[]
  search: ListSearch
  /** Changes with the filters. */
  filters: string
  query: Pick<
    UseQueryResult,
    'isPending' | 'isFetching' | 'isSuccess' | 'isPlaceholderData' | 'error' | 'data' | 'dataUpdatedAt' | 'refetch'
  >
}

/** The state of a list whose rows all arrive in one response. The browser searches, sorts and pages it. */
export function wholeList<Row>({ rows, search, filters, query }: WholeList<Row>): ListState<Row> {
  const pages = Math.max(1, Math.ceil(rows.length / size))
  return {
    rows,
    page: Math.min(search.page ?? 1, pages),
    pages,
    size,
    total: rows.length,
    matching: rows.length,
    sortsLoaded: true,
    loading: query.isPending,
    refreshing: query.isFetching && !query.isPending,
    error: query.error,
    stale: query.error !== null && query.data !== undefined,
    narrowing: `${search.q ?? ''} ${filters}`,
    settled: query.isSuccess && !query.isPlaceholderData,
    answeredAt: query.dataUpdatedAt,
    retry: () => void query.refetch(),
    prefetch: () => undefined,
  }
}
