// Each series has totals over all of its days. A query uses the totals only if its range contains all of these days.
// Otherwise it adds up days and hours.
import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { logRow } from '../../../test/helpers/accounts.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { purgeLogs } from '../logs/log-purge.ts'
import { migrate } from '../migrations/migrate.ts'
import type { Store } from '../store.ts'
import { rankUsage, sumCalls } from './usage-query.ts'
import { rollUpUsage } from './usage-rollup.ts'
import type { HourRange, RowFilter } from './usage-series.ts'

const hour = 3600
const day = 24 * hour
/** A midnight (UTC). */
const start = 19_000 * day
const days = 20

/**
 * A call whose fields are derived from its time. Users have two tokens and use several models, and some calls have
 * another user name.
 */
const callAt = (created_at: number) => {
  const userId = 1 + (created_at % 5)
  return {
    ...logRow({ userId, tokenId: userId * 10 + (created_at % 2), channelId: 1 }),
    username: created_at % 11 === 0 ? 'renamed' : `user${userId}`,
    model_name: `model${created_at % 3}`,
    type: created_at % 7 === 0 ? 1 : 2,
    quota: 1 + (created_at % 997),
    created_at,
  }
}

type Call = ReturnType<typeof callAt>

forEachDatabase((_, openFresh) => {
  async function write(store: Store, times: readonly number[]): Promise<Call[]> {
    const rows = times.map(callAt)
    await store.write((trx) => trx.insertInto('logs').values(rows).execute())
    return rows
  }

  async function expectUsage(store: Store, rows: readonly Call[], range: HourRange, filter: RowFilter): Promise<void> {
    const users = new Map<number, number>()
    for (const { type, user_id, username, quota, created_at } of rows) {
      const at = Math.floor(created_at / hour)
      if (type !== 2 || at < range.from || at >= range.to) continue
      if (filter.userId && filter.userId !== user_id) continue
      if (filter.username && filter.username !== username) continue
      users.set(user_id, (users.get(user_id) ?? 0) + quota)
    }
    const ask = { filter, range, group: 'user_id', metric: 'quota', limit: 9 } as const
    const { total, top } = await rankUsage(store.read, ask)
    const found = new Map(top.map(({ g, quota }) => [Number(g), quota] as const))
    const quota = [...users.values()].reduce((sum, each) => sum + each, 0)
    expect({ range, filter, quota: total.quota, found }).toEqual({ range, filter, quota, found: users })
    const summed = await sumCalls(store.read, filter, range.from * hour, range.to * hour - 1)
    expect([range, summed.quota]).toEqual([range, quota])
  }

  test('sums are exact for ranges with any ends, before and after the days of the rows are summed up', async () => {
    const store = await openFresh()
    const first = start + 7 * hour
    const rows = await write(
      store,
      Array.from({ length: 300 }, (_, index) => first + index * 5760 + (index % 3)),
    )
    const expectAll = async (...edges: number[]) => {
      const hours = [0, ...edges.flatMap((at) => [at - hour, at, at + hour]).map((at) => Math.floor(at / hour))]
      const ends = [...hours, Math.floor((start + 2 * days * day) / hour)]
      for (const from of hours)
        for (const to of ends)
          if (from < to) await expectUsage(store, rows, { from, to }, from % 2 ? {} : { userId: 2 })
    }
    // The rollup runs at four times: before the first row, on the day of the first row, on the next day, and in the
    // middle of the rows.
    for (const now of [start - day, start, start + day, start + 10 * day + 5 * hour]) {
      await rollUpUsage(store, now)
      await expectAll(first, start + day, start + 10 * day)
    }
    // Writes a row that is older than all others, whose day has already been summed up. Sums must be exact before and
    // after the row is counted.
    rows.push(...(await write(store, [first - 3 * day])))
    await expectAll(first - 3 * day, first)
    await rollUpUsage(store, start + 12 * day)
    await expectAll(first - 3 * day, first, start + 12 * day)
    await purgeLogs(store, { before: start + 5 * day, now: start + days * day })
    for (const to of [start + 9 * day, start + days * day])
      await expectUsage(store, rows, { from: 0, to: to / hour }, { username: 'renamed' })
  }, 120_000)

  test('the migration gives a database that already has rows the same sums as a rollup', async () => {
    const store = await openFresh()
    await write(
      store,
      Array.from({ length: 400 }, (_, index) => start + index * 4111),
    )
    await rollUpUsage(store, start + 15 * day)
    await purgeLogs(store, { before: start + 3 * day + 5 * hour, now: start + 16 * day })
    const counted = await sumsOf(store)
    await takeBack(store)
    expect(await migrate(store)).toEqual(['0009-usage-in-all'])
    expect(await sumsOf(store)).toEqual(counted)
  })
})

/** All sums of users and of users by model, the totals of all series, and the first hour with counted rows. */
async function sumsOf({ read }: Store): Promise<unknown[]> {
  const users = ['usage_hours', 'usage_days', 'usage_weeks'].map(
    (table) => sql`
      select s.kind, s.type, s.user_id, s.username, s.model_name, u.*, 0 as series_id
      from usage_series s join ${sql.table(table)} u on u.series_id = s.id
      where s.kind like 'user%' order by s.kind, s.type, s.user_id, s.username, s.model_name, u.slot`,
  )
  const series = sql`
    select s.*, 0 as id from usage_series s order by kind, type, user_id, username, token_id, channel_id, model_name`
  const answers = []
  for (const query of [...users, series, sql`select first_slot from usage_state`])
    answers.push((await query.execute(read)).rows)
  return answers
}

/** Undoes the migration `0009-usage-in-all`. */
async function takeBack(store: Store): Promise<void> {
  const figures =
    (await sql<Record<string, unknown>>`select * from usage_days limit 1`.execute(store.read)).rows[0] ?? {}
  // A later migration added the columns `cost` and `margin`, which stay.
  const others = ['series_id', 'slot', 'cost', 'margin']
  const columns = Object.keys(figures).filter((name) => !others.includes(name))
  const ofUsers = "(select id from usage_series where kind like 'user%')"
  const statements = [
    ...['usage_hours', 'usage_days', 'usage_weeks'].map(
      (table) => `delete from ${table} where series_id in ${ofUsers}`,
    ),
    "delete from usage_series where kind like 'user%'",
    ...columns.map((name) => `alter table usage_series drop column ${name}`),
    'alter table usage_state drop column first_slot',
    "delete from schema_migrations where name = '0009-usage-in-all'",
  ]
  await store.write(async (trx) => {
    for (const statement of statements) await sql.raw(statement).execute(trx)
  })
}
