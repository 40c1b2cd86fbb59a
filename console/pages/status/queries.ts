import { queryOptions } from '@tanstack/react-query'
import { statusPageApi } from '../../../contract/api/status-page.ts'
import { call } from '../../lib/call.ts'

/** How often the page is refreshed while it is visible. */
export const refreshMs = 30_000

/**
 * The status page's data, refreshed while the page is visible. The server's data may itself be up to 30 seconds old.
 */
export const statusPageQuery = queryOptions({
  queryKey: ['status page'],
  queryFn: ({ signal }) => call(statusPageApi.read, {}, { signal, quiet: true }),
  refetchOnWindowFocus: true,
})
