import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { captureApi } from '../../../contract/api/capture.ts'
import { channelApi } from '../../../contract/api/channel.ts'
import { type Log, logApi } from '../../../contract/api/log.ts'
import { priceApi } from '../../../contract/api/price.ts'
import { logType } from '../../../contract/log-types.ts'
import { addressOf, CallError, call } from '../../lib/call.ts'
import { listSourceOf } from '../../lib/list-source.ts'
import { rowIdOf } from '../../lib/log-row.ts'
import type { filterOf } from './filters.ts'

export type LogFilter = ReturnType<typeof filterOf>

const rowsPerPage = { sizeName: 'logs' }

/** The user's own rows, and the rows of all users. */
export const ownLogs = listSourceOf<Log>('log own', false, () => logApi.self, rowsPerPage)
export const allLogs = listSourceOf<Log>('log all', false, () => logApi.list, rowsPerPage)

/** Quota and tokens of the calls that match the filter. */
export const statQuery = (filter: LogFilter, everybody: boolean) =>
  queryOptions({
    queryKey: ['log', 'stat', everybody, filter],
    queryFn: ({ signal }) =>
      everybody
        ? call(logApi.stat, { query: filter }, { signal, quiet: true })
        : call(logApi.selfStat, { query: filter }, { signal, quiet: true }),
    placeholderData: keepPreviousData,
  })

/** Number of rows of each type, by the start time of each bar. */
export type Histogram = Awaited<ReturnType<typeof call<typeof logApi.histogram>>>

/** Number of bars in the histogram. */
const buckets = 48

/** The number of rows in each part of the time range, for the histogram. */
export const histogramQuery = (filter: LogFilter, everybody: boolean) =>
  queryOptions({
    queryKey: ['log', 'histogram', everybody, filter],
    queryFn: ({ signal }) => {
      const query = { ...filter, buckets, utc_offset: -new Date().getTimezoneOffset() }
      return everybody
        ? call(logApi.histogram, { query }, { signal, quiet: true })
        : call(logApi.selfHistogram, { query }, { signal, quiet: true })
    },
    placeholderData: keepPreviousData,
  })

/** A channel's name; null if it was deleted. */
export const channelNameQuery = (id: number) =>
  queryOptions({
    queryKey: ['channel', 'name', id],
    queryFn: async ({ signal }) => {
      try {
        return (await call(channelApi.get, { params: { id } }, { signal, quiet: true })).name
      } catch (error) {
        if (error instanceof CallError && error.kind === 'refused') return null
        throw error
      }
    },
    staleTime: 60_000,
  })

/**
 * The row of a request. If the request has no row of its own, this is the row that summarises it; null if there is
 * none.
 */
export const requestQuery = (request: string, everybody: boolean) =>
  queryOptions({
    // The key is outside the log's query key, because live mode reloads everything under that key.
    queryKey: ['request', everybody, request],
    queryFn: async ({ signal }) => {
      const query = { keyword: request }
      const options = { signal, quiet: true }
      const found = await (everybody
        ? call(logApi.search, { query }, options)
        : call(logApi.selfSearch, { query }, options))
      const own = found.find((log) => log.request_id === request)
      return own ?? found.find((log) => log.type === logType.error && log.left_out > 0) ?? null
    },
  })

/**
 * The recorded content of a request; null if it was not recorded. The server logs each access, so this is requested
 * only once.
 */
export const captureQuery = (request: string) =>
  queryOptions({
    queryKey: ['capture', request],
    queryFn: ({ signal }) => call(captureApi.read, { params: { request_id: request } }, { signal, quiet: true }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  })

/** The row with an id, on whatever page it is; null if there is no such row. */
export const rowQuery = (id: string, everybody: boolean) =>
  queryOptions({
    queryKey: ['log row', everybody, id],
    queryFn: async ({ signal }) => {
      const query = { p: 0, id }
      const found = await call(everybody ? logApi.list : logApi.self, { query }, { signal, quiet: true })
      // Other servers do not support this filter and return their newest rows, so the row is looked for among them.
      return found.find((log) => rowIdOf(log) === id) ?? null
    },
  })

/** The current prices of the user's group, under the same query key as on the models page. */
export const currentPricesQuery = queryOptions({
  queryKey: ['prices', undefined],
  queryFn: ({ signal }) => call(priceApi.list, { query: {} }, { signal, quiet: true }),
})

/** The URL of the filtered rows as CSV. */
export function exportAddress(filter: LogFilter, everybody: boolean): string {
  return everybody ? addressOf(logApi.export, { query: filter }) : addressOf(logApi.selfExport, { query: filter })
}

/** The URL of the stream of new rows. */
export function tailAddress(filter: LogFilter, everybody: boolean): string {
  const { start_timestamp: _start, end_timestamp: _end, ...query } = filter
  return everybody ? addressOf(logApi.stream, { query }) : addressOf(logApi.selfStream, { query })
}
