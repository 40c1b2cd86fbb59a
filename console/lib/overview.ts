import { queryOptions } from '@tanstack/react-query'
import { overviewApi } from '../../contract/api/overview.ts'
import { CallError, call } from './call.ts'

/** How often an overview is refreshed while it is visible. */
const refreshMs = 15_000
/** Options of queries that refresh themselves; they stop while the page is hidden. */
export const refreshing = { refetchInterval: refreshMs, refetchOnWindowFocus: true } as const

/** The result on a server that has no overview. */
const absent = (error: unknown) => {
  if (error instanceof CallError && error.status === 404) return null
  throw error
}

/** The current state of the installation; null if the server does not report this. */
export const overviewQuery = queryOptions({
  queryKey: ['overview', 'all'],
  queryFn: ({ signal }) => call(overviewApi.read, {}, { signal, quiet: true }).catch(absent),
  ...refreshing,
})

/** The user's own account at a glance; null if the server does not report this. */
export const ownOverviewQuery = queryOptions({
  queryKey: ['overview', 'own'],
  queryFn: ({ signal }) => {
    const query = { utc_offset: -new Date().getTimezoneOffset() }
    return call(overviewApi.self, { query }, { signal, quiet: true }).catch(absent)
  },
  ...refreshing,
})
