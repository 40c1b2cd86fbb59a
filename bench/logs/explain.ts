import { countByHour } from '../../server/store/logs/log-hours.ts'
import { listLogs } from '../../server/store/logs/log-pages.ts'
import { listByOutcome } from '../../server/store/logs/log-searched.ts'
import { searchLogs } from '../../server/store/logs/logs.ts'
import type { Store } from '../../server/store/store.ts'
import { firstUsageHour, rankUsage, sumCalls, usageInBuckets } from '../../server/store/usage/usage-query.ts'
import { recording } from '../../test/helpers/query-plans.ts'
import type { Population } from './seed.ts'

/** The tables and indexes that one kind of query reads, according to the database's query plan. */
export interface Plan {
  question: string
  reads: string[]
}

/** The query plans of the kinds of request in `logCases`. */
export async function plansOf(real: Store, of: Population): Promise<Plan[]> {
  const { store, plans } = recording(real)
  const db = store.read
  const page = { offset: 0, limit: 10, sort: 'id', descending: true } as const
  const open = { start_timestamp: 0, end_timestamp: 0 }
  const range = { from: Math.floor(of.end / 3600) - 90 * 24, to: Math.floor(of.end / 3600) }
  const model = { model_name: of.busyModel }
  const grouped = { filter: model, range, group: 'user_id', metric: 'quota' } as const
  const questions: [string, () => Promise<unknown>][] = [
    ['list without a filter', () => listLogs(db, open, page)],
    ['list of a model', () => listLogs(db, { ...open, ...model }, page)],
    ['list of a user and a model', () => listLogs(db, { ...open, ...model, userId: 1 }, page)],
    ['failed calls', () => listByOutcome(db, { ...open, outcome: ['failed'] }, page)],
    ['retried calls of a model', () => listByOutcome(db, { ...open, ...model, outcome: ['retried'] }, page)],
    ['slow calls of a user', () => listByOutcome(db, { ...open, userId: 1, outcome: ['slow'] }, page)],
    [
      'statistic of a user, to the second',
      () => sumCalls(db, { username: of.busyUser }, of.end - 2_600_017, of.end - 17),
    ],
    ['histogram of a model', () => countByHour(db, { ...open, ...model }, { minutes: 1440, shift: 0 })],
    ['usage of a model by user: ranking', () => rankUsage(db, { ...grouped, limit: 6 })],
    [
      'usage of a model by user: buckets',
      () => usageInBuckets(db, { ...grouped, only: [1, 2, 3], bucket: { minutes: 1440, shift: 1440 } }),
    ],
    [
      'usage of a model by user, days of another zone: buckets',
      () => usageInBuckets(db, { ...grouped, only: [1, 2, 3], bucket: { minutes: 1440, shift: 1920 } }),
    ],
    [
      'usage of a user by model, days of another zone: buckets',
      () =>
        usageInBuckets(db, {
          ...grouped,
          filter: { username: of.busyUser },
          group: 'model_name',
          only: [of.busyModel],
          bucket: { minutes: 1440, shift: 1920 },
        }),
    ],
    ['first hour of a model', () => firstUsageHour(db, model)],
    ['search', () => searchLogs(db, 'quota set')],
  ]
  const found: Plan[] = []
  for (const [question, ask] of questions) {
    await ask()
    found.push({ question, reads: await plans() })
  }
  return found
}
