import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { channelApi } from '../../../contract/api/channel.ts'
import { logApi } from '../../../contract/api/log.ts'
import { optionApi } from '../../../contract/api/option.ts'
import { tokenApi } from '../../../contract/api/token.ts'
import { logType } from '../../../contract/log-types.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { call } from '../../lib/call.ts'
import { sinceDays } from '../../lib/days.ts'
import { rowIdOf } from '../../lib/log-row.ts'
import { queryClient } from '../../lib/query-client.ts'
import { readUsage } from '../../lib/read-usage.ts'

/** Number of days in the chart of the start page, including today. */
export const spendDays = 14
/** Number of log rows that the start page shows. */
export const latestRows = 5
/** How often the page checks for the first call. */
const callPollMs = 5000

/** The start (local midnight) of the day `daysAgo` days ago, in epoch seconds. */
function dayStart(daysAgo: number): number {
  const now = new Date()
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).getTime() / 1000
}

/** Number of models listed on the start page. */
const topModels = 4

/**
 * Usage on each of the last `days` days, in total and for the models with the highest usage. For administrators, it
 * covers all users unless `username` is given.
 */
export const usageQuery = (days: number, username: string | undefined) =>
  usageSince(`${days} whole days`, () => dayStart(days - 1), username)

/**
 * Like `usageQuery`, for the last 7 days. As on other pages, the range begins exactly 7 days ago and not at midnight.
 */
export const weekQuery = (username: string | undefined) => usageSince('7 days', () => sinceDays(7), username)

const usageSince = (name: string, since: () => number, username: string | undefined) =>
  queryOptions({
    queryKey: ['usage', 'start', name, username],
    queryFn: ({ signal }) => {
      const query = {
        metric: 'quota',
        group_by: 'model',
        rollup: 'day',
        top: topModels,
        start_timestamp: since(),
        utc_offset: -new Date().getTimezoneOffset(),
        time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        username,
      }
      return readUsage(query, signal)
    },
    placeholderData: keepPreviousData,
  })

/**
 * The newest rows of the log, either all users' or the user's own. Channel tests are excluded, because there may be
 * very many of them.
 */
export const latestQuery = (everybody: boolean) =>
  queryOptions({
    queryKey: ['log', 'latest', everybody],
    queryFn: async ({ signal }) => {
      const newest = (type: number) => {
        const query = { p: 0, size: latestRows, ...(type !== 0 && { type }) }
        return call(everybody ? logApi.list : logApi.self, { query }, { signal, quiet: true })
      }
      // The newest rows may all be tests, which would hide the calls. Calls and errors are therefore also requested
      // separately.
      const found = (await Promise.all([0, logType.consume, logType.error].map(newest))).flat()
      const rows = new Map(found.filter(({ type }) => type !== logType.test).map((log) => [rowIdOf(log), log]))
      return [...rows.values()].sort((a, b) => b.created_at - a.created_at || b.id - a.id).slice(0, latestRows)
    },
    placeholderData: keepPreviousData,
  })

/** Polls after a failure, so that the steps are correct once the server is back. */
const afterError = ({ state }: { state: { status: string } }) => (state.status === 'error' ? callPollMs : false)

/** Whether a channel exists, and whether any channel has been tested. */
export const channelsQuery = queryOptions({
  queryKey: ['channel', 'steps'],
  queryFn: async ({ signal }) => {
    const query = { p: 0, size: 1, sort: 'test_time', order: 'desc' }
    const rows = await call(channelApi.list, { query }, { signal, quiet: true })
    return { any: rows.length > 0, tested: rows.some((channel) => channel.test_time > 0) }
  },
  // Always stale, so that a step that was just done is ticked when the user returns.
  staleTime: 0,
  refetchInterval: afterError,
})

/**
 * Whether any channel serves a model without a price. On servers that do not report this, every model counts as priced.
 */
export const unpricedQuery = queryOptions({
  queryKey: ['option', 'unpriced'],
  queryFn: async ({ signal }) => {
    const prices = await call(optionApi.prices, {}, { signal, quiet: true }).catch(() => [])
    return prices.some(({ channels, source }) => channels > 0 && source === 'none')
  },
})

/** Whether the account has a token. */
export const hasTokenQuery = queryOptions({
  queryKey: ['token', 'steps'],
  queryFn: async ({ signal }) =>
    (await call(tokenApi.list, { query: { p: 0, size: 1 } }, { signal, quiet: true })).length > 0,
  staleTime: 0,
  refetchInterval: afterError,
})

/** Whether a call was made, by any user or by this user; checked repeatedly until there is a call. */
export const hasCallQuery = (everybody: boolean) =>
  queryOptions({
    queryKey: ['log', 'steps', everybody],
    queryFn: async ({ signal }) => {
      const query = { p: 0, size: 1, type: logType.consume }
      return (await call(everybody ? logApi.list : logApi.self, { query }, { signal, quiet: true })).length > 0
    },
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data === true ? false : callPollMs),
  })

/** Tests a channel, and enables it if it passes. If the call fails, it shows its own error. */
export async function testAndEnable(id: number): Promise<void> {
  try {
    await call(channelApi.test, { params: { id }, query: {} })
    await call(channelApi.update, { body: { id, status: channelStatus.enabled } })
  } finally {
    await queryClient.invalidateQueries({ queryKey: ['overview', 'all'] })
    void queryClient.invalidateQueries({ queryKey: ['channel'] })
  }
}
