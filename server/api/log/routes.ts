import { api } from '../../../contract/api/index.ts'
import { dashboardDays, type Log } from '../../../contract/api/log.ts'
import { listed, pageOf } from '../../http/list-page.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { recordAudit } from '../../store/audit.ts'
import { purgeLogs } from '../../store/log-purge.ts'
import { type LogRow, listLogs, searchLogs, sumLogs, usageByDay } from '../../store/logs.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'

const daySeconds = 86_400

/** Usage logs: everybody's for admins, the own ones for everybody. */
export function mountLogs(router: ApiRouter, { store, clock }: Pick<ApiDeps, 'store' | 'clock'>): void {
  serve(router, api.log.list, async ({ query, context }) =>
    listed(context, await listLogs(store.read, query, pageOf(query))).map(fullView),
  )

  serve(router, api.log.self, async ({ query, person, context }) =>
    listed(context, await listLogs(store.read, { ...query, userId: person.id }, pageOf(query))).map(ownView),
  )

  serve(router, api.log.dashboard, async ({ person }) => {
    const today = Math.floor(epochSeconds(clock) / daySeconds)
    const rows = await usageByDay(store.read, person.id, (today - dashboardDays + 1) * daySeconds)
    return rows.map((row) => ({
      Day: new Date(row.day * daySeconds * 1000).toISOString().slice(0, 10),
      ModelName: row.model,
      RequestCount: row.requests,
      Quota: row.quota,
      PromptTokens: row.promptTokens,
      CompletionTokens: row.completionTokens,
    }))
  })

  serve(router, api.log.stat, ({ query }) => sumLogs(store.read, query))

  serve(router, api.log.selfStat, ({ query, person }) => sumLogs(store.read, { ...query, userId: person.id }))

  serve(router, api.log.search, async ({ query }) => (await searchLogs(store.read, query.keyword)).map(fullView))

  serve(router, api.log.selfSearch, async ({ query, person }) =>
    (await searchLogs(store.read, query.keyword, person.id)).map(ownView),
  )

  serve(router, api.log.purge, async (call) => {
    const before = call.query.target_timestamp
    const deleted = await purgeLogs(store, before)
    await store.write((trx) =>
      recordAudit(trx, auditEvent(clock, call, 'log.purge', 'logs', `${deleted} logs older than ${before}`)),
    )
    return deleted
  })
}

function fullView({ channel_id, ...row }: LogRow): Log {
  return {
    ...row,
    channel: channel_id,
    is_stream: Boolean(row.is_stream),
    system_prompt_reset: Boolean(row.system_prompt_reset),
    estimated: Boolean(row.estimated),
  }
}

/** Which upstream served a call is the operator's business. */
function ownView(row: LogRow): Log {
  return { ...fullView(row), channel: 0, attempts: '' }
}
