import { api } from '../../../contract/api/index.ts'
import { type Overview, topSpenders } from '../../../contract/api/overview.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import type { Db } from '../../store/store.ts'
import { callsByHour, type HourRows } from '../../store/usage/hourly.ts'
import { rankUsage, usageNames } from '../../store/usage/usage-query.ts'
import type { ApiDeps } from '../deps.ts'
import { attentionItems } from './attention.ts'
import { createLastHour } from './last-hour.ts'
import { ownOverview } from './own-overview.ts'

/** How long a node caches the overview, which is the same for all admins. */
const freshMs = 5000
const hourSeconds = 3600
const dayHours = 24
const weekHours = 7 * dayHours

type OverviewDeps = Pick<ApiDeps, 'store' | 'settings' | 'clock' | 'logCopy'>

/** The overview of the installation, for admins, and the overview of the caller's own account. */
export function mountOverview(router: ApiRouter, { store, settings, clock, logCopy }: OverviewDeps): void {
  const lastHour = createLastHour(clock)
  let cached: { atMs: number; data: Promise<Overview> } | undefined

  async function read(): Promise<Overview> {
    const time = epochSeconds(clock)
    const db = store.read
    const [hour, day, costs, spenders, attention] = await Promise.all([
      lastHour(db),
      lastDay(db, time),
      costsOf(db, time),
      spendersOf(db, time),
      attentionItems({ db, settings: settings.current(), logCopy, now: time }),
    ])
    return { time, hour, day, costs, spenders, attention }
  }

  serve(router, api.overview.read, () => {
    const atMs = clock.nowMs()
    if (cached && atMs - cached.atMs < freshMs) return cached.data
    const data = read()
    cached = { atMs, data }
    data.catch(() => {
      cached = undefined
    })
    return data
  })

  serve(router, api.overview.self, ({ person, query }) =>
    ownOverview(store.read, { userId: person.id, utcOffset: query.utc_offset, now: epochSeconds(clock) }),
  )
}

async function lastDay(db: Db, now: number): Promise<Overview['day']> {
  const to = Math.floor(now / hourSeconds) + 1
  const range = { from: to - dayHours, to }
  const [charged, failed] = await Promise.all([callsByHour(db, 'consume', range), callsByHour(db, 'error', range)])
  const hours = Array.from({ length: dayHours }, (_, index) => range.from + index)
  const values = (rows: readonly HourRows[], value: (row: HourRows) => number) => {
    const byHour = new Map(rows.map((row) => [row.hour, value(row)]))
    return hours.map((hour) => byHour.get(hour) ?? 0)
  }
  return {
    starts: hours.map((hour) => hour * hourSeconds),
    succeeded: values(charged, (row) => row.rows - row.failed),
    interrupted: values(charged, (row) => row.failed),
    failed: values(failed, (row) => row.rows),
  }
}

async function costsOf(db: Db, now: number): Promise<Overview['costs']> {
  const to = Math.floor(now / hourSeconds) + 1
  const range = { from: to - dayHours, to }
  const { total } = await rankUsage(db, { filter: {}, group: undefined, metric: 'quota', limit: 1, range })
  const { quota, cost, margin } = total
  return cost === 0 && margin === 0 ? null : { quota, cost, margin }
}

async function spendersOf(db: Db, now: number): Promise<Overview['spenders']> {
  const to = Math.floor(now / hourSeconds) + 1
  const ask = { filter: {}, group: 'user_id', metric: 'quota', limit: topSpenders } as const
  const { top } = await rankUsage(db, { ...ask, range: { from: to - weekHours, to } })
  const spent = top.filter(({ quota }) => quota > 0)
  const only = spent.map(({ g }) => g)
  const [earlier, names] = await Promise.all([
    rankUsage(db, { ...ask, range: { from: to - 2 * weekHours, to: to - weekHours }, only }),
    usageNames(db, 'user_id', only.map(Number)),
  ])
  return spent.map(({ g, quota }) => ({
    id: Number(g),
    name: names.get(Number(g)) ?? String(g),
    quota,
    before: earlier.top.find((each) => each.g === g)?.quota ?? 0,
  }))
}
