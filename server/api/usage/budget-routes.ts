import { setImmediate } from 'node:timers/promises'
import { type Budget, budgetShares, maxBudgetExport, paceDays } from '../../../contract/api/budget.ts'
import { api } from '../../../contract/api/index.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { Person } from '../../http/app-env.ts'
import { csvResponse } from '../../http/csv-response.ts'
import { listed } from '../../http/list-page.ts'
import { type ApiRouter, type PersonCall, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { byteOrderMark, csvLine } from '../../lib/csv.ts'
import { utcPeriods } from '../../lib/utc.ts'
import type { Settings } from '../../settings/settings.ts'
import { type BudgetAsk, type BudgetRow, listBudgets } from '../../store/accounts/budgets.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'
import { createPerPerson } from '../per-person.ts'

const daySeconds = 86_400
const mostExports = 2
const soonSeconds = 7 * daySeconds
const rowsPerStep = 500
const usdDecimals = 6

type Query = PersonCall<typeof api.usage.budgetsExport>['query']

/**
 * Endpoints for the spending limits: how much of each limit is used, and when it will be reached. They return a page of
 * the list, or a CSV file.
 */
export function mountBudgets(
  router: ApiRouter,
  { store, clock, settings }: Pick<ApiDeps, 'store' | 'clock' | 'settings'>,
): void {
  const { read } = store
  const slots = createPerPerson(mostExports, 'exports')

  serve(router, api.usage.budgets, async ({ query, person, context }) => {
    const now = epochSeconds(clock)
    const ask = askOf(query, person, settings.current(), now)
    const page = { offset: query.p * query.size, limit: query.size }
    const rows = await listBudgets(read, { ...ask, ...page })
    // The number of all rows is part of each row. A page beyond the end has no rows, so the number is read from the
    // first row.
    const [any] = rows.length > 0 || page.offset === 0 ? rows : await listBudgets(read, { ...ask, offset: 0, limit: 1 })
    return listed(context, { rows: rows.map((row) => budgetOf(row, now)), total: any?.matching ?? 0 })
  })

  serve(router, api.usage.budgetsExport, async (call) => {
    const now = epochSeconds(clock)
    const ask = askOf(call.query, call.person, settings.current(), now)
    const ended = slots.take(call.person.id)
    try {
      const name = `budgets-${dayText(now)}.csv`
      const rows = await listBudgets(read, { ...ask, offset: 0, limit: maxBudgetExport + 1 })
      if (rows.length > maxBudgetExport)
        throw new ApiFailure(`The file would have more than ${maxBudgetExport} rows: choose a filter.`)
      if (call.person.role >= roles.admin)
        await store.write((trx) => recordAudit(trx, auditEvent(clock, call, 'budget.export', 'budget', name)))
      const lines = budgetCsv(rows, now, settings.current().QuotaPerUnit)
      return csvResponse({ name, lines, what: 'budgets', ended, warn: router.warn })
    } catch (error) {
      ended()
      throw error
    }
  })
}

/** The query for the database. People who are not admins see only their own limits. */
function askOf(
  query: Query,
  person: Person,
  { GroupLimits }: Pick<Settings, 'GroupLimits'>,
  now: number,
): Omit<BudgetAsk, 'offset' | 'limit'> {
  const isAdmin = person.role >= roles.admin
  if (!isAdmin && query.user_id !== 0 && query.user_id !== person.id)
    throw new ApiFailure('You may only read your own budgets.')
  const { owner, period, level, sort, order } = query
  const named = order === 'asc' || order === 'desc' ? sort : (sort ?? order)
  return {
    userId: isAdmin ? query.user_id : person.id,
    owner,
    period,
    share: level === 'near' || level === 'critical' ? budgetShares[level] : undefined,
    withinSeconds: level === 'runs_out' ? soonSeconds : undefined,
    keyword: query.keyword.trim(),
    groupLimits: GroupLimits,
    now,
    periods: utcPeriods(now),
    paceSeconds: paceDays * daySeconds,
    sort: named ?? 'share',
    descending: order !== 'asc',
  }
}

/** A limit in the form of the API, with the forecast for the end of its period. */
function budgetOf(row: BudgetRow, now: number): Budget {
  const { nextDay, nextMonth } = utcPeriods(now)
  const { owner, period, user_id, username, token_id, token_name, from_group, share, seconds } = row
  const resets = period === 'total' ? 0 : period === 'day' ? nextDay : nextMonth
  return {
    owner,
    period,
    user_id,
    username,
    token_id,
    token_name,
    from_group,
    limit: row.most,
    used: row.used,
    left: row.most - row.used,
    share,
    pace: Math.round(row.rate * daySeconds),
    forecast: resets === 0 ? null : row.used + Math.round(row.rate * (resets - now)),
    runs_out: seconds === null ? null : Math.min(Number.MAX_SAFE_INTEGER, now + Math.round(seconds)),
    resets,
  }
}

const dayText = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10)
const momentText = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')
/** The last second of the year 9999. Later dates cannot be formatted. */
const lastMoment = 253_402_300_799

async function* budgetCsv(rows: readonly BudgetRow[], now: number, quotaPerUnit: number): AsyncGenerator<string> {
  const figures = ['limit', 'used', 'left', 'pace', 'forecast'] as const
  const dollars = (quota: number | null) =>
    quota === null ? '' : { value: quota / quotaPerUnit, decimals: usdDecimals }
  const heading = ['owner', 'period', 'user_id', 'user', 'token_id', 'token', 'from_group']
  const last = ['share', 'runs_out_utc', 'resets_utc']
  const units = figures.map((name) => `${name}_quota`)
  yield byteOrderMark + csvLine([...heading, ...figures.map((name) => `${name}_usd`), ...last, ...units])
  for (let at = 0; at < rows.length; at += rowsPerStep) {
    const views = rows.slice(at, at + rowsPerStep).map((row) => budgetOf(row, now))
    yield views
      .map((row) =>
        csvLine([
          ...[row.owner, row.period, row.user_id, row.username, row.token_id, row.token_name, row.from_group],
          ...figures.map((name) => dollars(row[name])),
          { value: row.share, decimals: 4 },
          row.runs_out === null || row.runs_out > lastMoment ? '' : momentText(row.runs_out),
          row.resets === 0 ? '' : momentText(row.resets),
          ...figures.map((name) => row[name] ?? ''),
        ]),
      )
      .join('')
    // Gives relayed requests a turn on the event loop.
    await setImmediate()
  }
}
