import { api } from '../../../contract/api/index.ts'
import { dashboardDays } from '../../../contract/api/log.ts'
import type { Person } from '../../http/app-env.ts'
import { listed, pageOf } from '../../http/list-page.ts'
import { type ApiRouter, type PersonCall, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { requestSeconds } from '../../lib/secrets/ids.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { LogFilter } from '../../store/logs/log-hours.ts'
import { filtersOutcomes } from '../../store/logs/log-outcome.ts'
import { type LogRow, listLogs } from '../../store/logs/log-pages.ts'
import { purgeLogs } from '../../store/logs/log-purge.ts'
import { logsOfRequest, rowsForLeftOut } from '../../store/logs/log-request.ts'
import { listByOutcome, sumByOutcome } from '../../store/logs/log-searched.ts'
import { logById, searchLogs } from '../../store/logs/logs.ts'
import type { Listed } from '../../store/statements/page.ts'
import type { Db } from '../../store/store.ts'
import { sumCalls, usageByDay } from '../../store/usage/usage-query.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'
import { createPerPerson } from '../per-person.ts'
import { exportLogs } from './export-logs.ts'
import { histogramOf } from './histogram.ts'
import { foundViews, fullView, namedViews, ownFoundView, ownView } from './log-view.ts'
import { streamLogs } from './stream-logs.ts'

const day = 86_400
const mostExports = 2
const mostStreams = 4

type Deps = Pick<ApiDeps, 'store' | 'clock' | 'logTail'>

/** The usage logs. Admins see everybody's logs, other people see only their own. */
export function mountLogs(router: ApiRouter, deps: Deps): void {
  mountLists(router, deps)
  mountExports(router, deps)
  mountStreams(router, deps)
}

/** Restricts a query to the person's own logs, no matter what was requested. */
function own<Query extends object>(query: Query, person: Person): Query & { userId: number } {
  return { ...query, userId: person.id }
}

/** The requested page, or the one requested row. */
async function rowsFor(db: Db, query: PersonCall<typeof api.log.list>['query'] | OwnQuery): Promise<Listed<LogRow>> {
  if (query.id === 0)
    return filtersOutcomes(query) ? listByOutcome(db, query, pageOf(query)) : listLogs(db, query, pageOf(query))
  const rows = await logById(db, query.id, 'userId' in query ? query.userId : undefined)
  return { rows, total: rows.length }
}

type OwnQuery = PersonCall<typeof api.log.self>['query'] & { userId: number }

function mountLists(router: ApiRouter, { store, clock }: Deps): void {
  const { read } = store
  const sum = (filter: LogFilter) =>
    filtersOutcomes(filter)
      ? sumByOutcome(read, filter)
      : sumCalls(read, filter, filter.start_timestamp, filter.end_timestamp)
  const histogram = (
    query: Pick<PersonCall<typeof api.log.histogram>['query'], 'buckets' | 'utc_offset'>,
    filter: LogFilter,
  ) => histogramOf(read, { filter, buckets: query.buckets, utcOffset: query.utc_offset, now: epochSeconds(clock) })

  serve(router, api.log.list, async ({ query, context }) =>
    namedViews(read, listed(context, await rowsFor(read, query))),
  )
  serve(router, api.log.self, async ({ query, person, context }) =>
    listed(context, await rowsFor(read, own(query, person))).map(ownView),
  )
  serve(router, api.log.stat, ({ query }) => sum(query))
  serve(router, api.log.selfStat, ({ query, person }) => sum(own(query, person)))
  serve(router, api.log.histogram, ({ query }) => histogram(query, query))
  serve(router, api.log.selfHistogram, ({ query, person }) => histogram(query, own(query, person)))
  // Searches for a request id run one after the other, because many simultaneous ones would delay relayed requests.
  // Other searches start immediately.
  let before: Promise<unknown> = Promise.resolve()
  const search = async (keyword: string, userId?: number) => {
    if (requestSeconds(keyword) === undefined) return searchLogs(read, keyword, userId)
    const lookup = before.then(() => logsOfRequest(read, keyword, userId))
    before = lookup.catch(() => undefined)
    const ofRequest = await lookup
    if (ofRequest.length > 0) return ofRequest
    const standing = await rowsForLeftOut(read, keyword, userId)
    return standing.length > 0 ? standing : searchLogs(read, keyword, userId)
  }
  serve(router, api.log.search, async ({ query }) => foundViews(read, await search(query.keyword)))
  serve(router, api.log.selfSearch, async ({ query, person }) =>
    (await search(query.keyword, person.id)).map(ownFoundView),
  )

  serve(router, api.log.dashboard, async ({ person }) => {
    const today = Math.floor(epochSeconds(clock) / day)
    const rows = await usageByDay(read, person.id, today - dashboardDays + 1)
    return rows.map((row) => ({
      Day: new Date(row.day * day * 1000).toISOString().slice(0, 10),
      ModelName: row.model,
      RequestCount: row.requests,
      Quota: row.quota,
      PromptTokens: row.prompt_tokens,
      CompletionTokens: row.completion_tokens,
    }))
  })

  serve(router, api.log.purge, async (call) => {
    const before = call.query.target_timestamp
    const record = (action: 'log.purge' | 'log.purged', detail: string) =>
      store.write((trx) => recordAudit(trx, auditEvent(clock, call, action, 'logs', detail)))
    // The audit row is written before the first row is deleted, because a purge takes many transactions and may be
    // interrupted.
    await record('log.purge', `older than ${before}`)
    const deleted = await purgeLogs(store, { before, now: epochSeconds(clock) })
    await record('log.purged', `${deleted} logs older than ${before}`)
    return deleted
  })
}

function mountExports(router: ApiRouter, { store, clock }: Deps): void {
  const slots = createPerPerson(mostExports, 'exports')
  const db = store.read
  const { warn } = router

  serve(router, api.log.export, async (call) => {
    const ended = slots.take(call.person.id)
    try {
      await store.write((trx) => recordAudit(trx, auditEvent(clock, call, 'log.export', 'logs', '')))
    } catch (error) {
      ended()
      throw error
    }
    return exportLogs({ db, filter: call.query, view: fullView, isAdmin: true, ended, warn })
  })
  serve(router, api.log.selfExport, ({ query, person }) => {
    const ended = slots.take(person.id)
    return exportLogs({ db, filter: own(query, person), view: ownView, isAdmin: false, ended, warn })
  })
}

function mountStreams(router: ApiRouter, { store, logTail }: Deps): void {
  const slots = createPerPerson(mostStreams, 'live logs')
  const live = ({ person, context }: { person: Person; context: PersonCall<typeof api.log.stream>['context'] }) => ({
    store,
    tail: logTail,
    sessions: router.sessions,
    person,
    context,
    ended: slots.take(person.id),
  })

  serve(router, api.log.stream, (call) =>
    streamLogs({ ...live(call), access: api.log.stream.access, filter: call.query, view: fullView }),
  )
  serve(router, api.log.selfStream, (call) =>
    streamLogs({
      ...live(call),
      access: api.log.selfStream.access,
      filter: own(call.query, call.person),
      view: ownView,
    }),
  )
}
