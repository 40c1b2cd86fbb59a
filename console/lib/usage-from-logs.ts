import { type Log, logApi } from '../../contract/api/log.ts'
import { logType } from '../../contract/log-types.ts'
import { call } from './call.ts'
import type { KnownUsage, UsageQuery } from './known-usage.ts'
import { queryClient } from './query-client.ts'
import { isAdmin, sessionUser } from './session.ts'
import { usageOf } from './sum-usage.ts'

/** The maximum number of log pages that are read, and the number of concurrent requests. */
const mostPages = 20
const atOnce = 5
/** Rows per page on servers without a page size parameter. */
const rowsOfPage = 10
const freshMs = 15_000

/** Computes usage from the newest rows of the log, for servers that have no usage endpoint. */
export async function usageFromLogs(query: UsageQuery): Promise<KnownUsage> {
  const username = query.username === undefined ? undefined : String(query.username)
  const all = await queryClient.fetchQuery({
    queryKey: ['log', 'newest', username],
    queryFn: () => newestCalls(username),
    staleTime: freshMs,
  })
  return { ...usageOf(all, query), fromRows: all.length }
}

async function newestCalls(username: string | undefined): Promise<Log[]> {
  const endpoint = isAdmin(sessionUser()) ? logApi.list : logApi.self
  const rows: Log[] = []
  for (let from = 0; from < mostPages; from += atOnce) {
    const pages = await Promise.all(
      Array.from({ length: atOnce }, (_, index) => {
        const query = { p: from + index, type: logType.consume, username }
        return call(endpoint, { query }, { quiet: true })
      }),
    )
    rows.push(...pages.flat())
    if (pages.some((page) => page.length < rowsOfPage)) break
  }
  return rows
}
