// The log on PostgreSQL: one partition for each month, retention that drops them, and the takeover of older tables. In
// a takeover, the old table becomes the partition for everything before a date in the near future, the cut.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'kysely'
import { divideLog } from '../../server/jobs/log-jobs.ts'
import { openStore } from '../../server/store/connection/open.ts'
import type { OpenedStore } from '../../server/store/connection/open-options.ts'
import { balanceFaults } from '../../server/store/ledger/balance-check.ts'
import { saveCaps } from '../../server/store/ledger/caps.ts'
import { purgeLogs } from '../../server/store/logs/log-purge.ts'
import { createCoverTimes } from '../../server/store/logs/partitions/add-months.ts'
import { keepPartitions } from '../../server/store/logs/partitions/keep-partitions.ts'
import { logPartitions, monthAt } from '../../server/store/logs/partitions/log-partitions.ts'
import { migrate, migrateWithin, migrationNames } from '../../server/store/migrations/migrate.ts'
import type { Store } from '../../server/store/store.ts'
import { sumCalls } from '../../server/store/usage/usage-query.ts'
import { rollUpUsage } from '../../server/store/usage/usage-rollup.ts'
import { type Account, addAccount, holdOp, logRow, settleOp } from '../helpers/accounts.ts'
import { newPostgresDatabase, postgresMissing, postgresServer, type TestDatabase } from '../helpers/postgres.ts'
import { newMigratedPostgresDatabase } from '../helpers/templates.ts'

setDefaultTimeout(60_000)

const now = Math.floor(Date.now() / 1000)
const month = (later: number) => monthAt(now, later)

if (postgresMissing !== undefined) test.skip(`partitions of the log (${postgresMissing})`, () => undefined)
else suite()

function suite(): void {
  const databases: TestDatabase[] = []
  const stores: OpenedStore[] = []
  beforeAll(async () => void (await postgresServer()), 120_000)
  afterAll(async () => {
    for (const store of stores) await store.close()
    for (const database of databases) await database.drop()
  })

  const open = (url: string) => {
    const store = openStore({ url })
    stores.push(store)
    return store
  }
  async function fresh(): Promise<OpenedStore> {
    const database = await newMigratedPostgresDatabase()
    databases.push(database)
    return open(database.url)
  }
  /** A database of the last version without partitions, and its URL. */
  async function undivided(): Promise<{ store: OpenedStore; url: string }> {
    const database = await newPostgresDatabase()
    databases.push(database)
    const store = open(database.url)
    const before = migrationNames.filter((name) => name < '0034')
    await store.write((trx) => migrateWithin(trx, 'postgres', new Set(before)))
    return { store, url: database.url }
  }

  test('a new installation has partitions of this month and of the next three; rows with odd times go to the default partition', async () => {
    const store = await fresh()
    const account = await addAccount(store, { user: 1_000 })
    for (const at of [0, -5, now, month(3).until - 1, month(4).from, now * 1000]) await addRow(store, account, at)
    expect(await rowsByPartition(store)).toEqual({
      logs_default: 4,
      [month(0).name]: 1,
      [month(1).name]: 0,
      [month(2).name]: 0,
      [month(3).name]: 1,
    })
    // Two months later, several nodes run the job at the same time.
    const later = month(2).from + 5
    await Promise.all([1, 2, 3].map(() => keepPartitions(store, later)))
    expect(await rowsByPartition(store)).toMatchObject({ logs_default: 3, [month(4).name]: 1, [month(5).name]: 0 })
    expect(await ids(store)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('rows without a monthly partition are moved into one in the background, while calls continue', async () => {
    const store = await fresh()
    const account = await addAccount(store, { user: 1_000_000 })
    await sql.raw(`drop table ${month(0).name}`).execute(store.read)
    for (const at of [month(0).from, now, month(-7).from + 1]) await call(store, account, at)
    expect(await rowsByPartition(store)).toMatchObject({ logs_default: 3 })
    await Promise.all([keepPartitions(store, now), ...Array.from({ length: 20 }, () => call(store, account, now))])
    expect(await rowsByPartition(store)).toMatchObject({
      logs_default: 0,
      [month(0).name]: 22,
      [month(-7).name]: 1,
    })
    expect(await ids(store)).toEqual(Array.from({ length: 23 }, (_, at) => at + 1))
    await rollUpUsage(store, now)
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('the job runs on one of the nodes, and reports if it cannot divide the log', async () => {
    const { store, url } = await undivided()
    const account = await addAccount(store, { user: 1_000 })
    await addRow(store, account, now)
    await addRow(store, account, now * 1000)
    await migrate(store)
    const warnings: string[] = []
    const deps = { clock: { nowMs: () => now * 1000 }, warn: (message: string) => void warnings.push(message) }
    await Promise.all([store, open(url)].map((each) => divideLog({ ...deps, store: each })))
    expect(warnings).toEqual([expect.stringContaining(`it has a row of the time ${now * 1000}, far in the future`)])
    expect(await rowsByPartition(store)).toEqual({ logs_before: 2, logs_default: 0 })
    // Corrects the time of the row. The next run divides the log.
    await sql`update logs set created_at = ${now} where created_at > ${now}`.execute(store.read)
    deps.clock.nowMs = () => (now + 600) * 1000
    await divideLog({ ...deps, store })
    expect(warnings).toHaveLength(1)
    expect(await logPartitions(store.read)).toContainEqual({
      name: 'logs_before',
      from: undefined,
      until: expect.any(Number),
      isDefault: false,
    })
  })

  test('retention drops whole months, and deletes rows of a month that is only partly too old; ledger, limits and usage stay exact', async () => {
    const store = await fresh()
    const accounts = [
      await addAccount(store, { user: 1_000_000 }),
      await addAccount(store, { user: 1_000_000, token: 9_000 }),
    ]
    await store.write((trx) =>
      createCoverTimes(now)(
        trx,
        [-3, -2, -1].map((each) => month(each).from),
      ),
    )
    const [first, second] = accounts as [Account, Account]
    const cap = { owner: 'channel', period: 'month', most: 1e9, zone: 'UTC', raise_by: 0, raise_until: 0 } as const
    const caps = [
      { ...cap, metric: 'cost', models: '' } as const,
      { ...cap, metric: 'requests', models: 'gpt-*' } as const,
    ]
    await store.write((trx) => saveCaps(trx, first.channelId, caps, now))
    for (const each of [-3, -2, -1, 0])
      for (const account of accounts)
        for (const more of [0, 86_400, 20 * 86_400]) await call(store, account, month(each).from + more)
    const used = await sumCalls(store.read, {}, 0, 0)
    const before = month(-1).from + 10 * 86_400
    expect(await purgeLogs(store, { before, now, only: 'others' })).toBe(16)
    expect((await logPartitions(store.read)).map(({ name }) => name)).not.toContain(month(-2).name)
    expect(await rowsByPartition(store)).toMatchObject({ logs_default: 0, [month(-1).name]: 2, [month(0).name]: 6 })
    expect((await balanceFaults(store)).faults).toEqual([])
    expect(await sumCalls(store.read, {}, 0, 0)).toEqual(used)
    const unlogged = await store.read
      .selectFrom('users')
      .select('unlogged_quota')
      .where('id', 'in', [first.userId, second.userId])
      .execute()
    expect(unlogged.map((row) => Number(row.unlogged_quota))).toEqual([80, 80])
    const capped = await store.read.selectFrom('caps').select(['metric', 'unlogged']).orderBy('metric').execute()
    expect(capped.map((row) => [row.metric, Number(row.unlogged)])).toEqual([
      ['cost', 80],
      ['requests', 8],
    ])
  })

  test('in a month with rows that are kept longer, the other rows are deleted in steps; the month is dropped when all have expired', async () => {
    const store = await fresh()
    const account = await addAccount(store, { user: 1_000 })
    await store.write((trx) => createCoverTimes(now)(trx, [month(-2).from]))
    await call(store, account, month(-2).from)
    await addRow(store, account, month(-2).from, 6)
    const before = month(-1).from
    expect(await purgeLogs(store, { before, now, only: 'others' })).toBe(1)
    expect(await rowsByPartition(store)).toMatchObject({ [month(-2).name]: 1 })
    expect(await purgeLogs(store, { before, now, only: 'errors' })).toBe(1)
    expect((await logPartitions(store.read)).map(({ name }) => name)).not.toContain(month(-2).name)
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('a month that a backup reads is kept until the backup is done, and calls wait neither for the backup nor for the retention', async () => {
    const store = await fresh()
    const account = await addAccount(store, { user: 1_000 })
    await store.write((trx) => createCoverTimes(now)(trx, [month(-2).from]))
    await call(store, account, month(-2).from)
    const done = Promise.withResolvers<void>()
    const reading = store.read.transaction().execute(async (trx) => {
      await sql`lock table logs in access share mode`.execute(trx)
      await done.promise
    })
    const purge = purgeLogs(store, { before: month(-1).from, now, only: 'others' })
    for (let each = 0; each < 5; each++) await call(store, account, now)
    expect(await purge).toBe(0)
    expect(await rowsByPartition(store)).toMatchObject({ [month(-2).name]: 1, [month(0).name]: 5 })
    done.resolve()
    await reading
    expect(await purgeLogs(store, { before: month(-1).from, now, only: 'others' })).toBe(1)
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('an older table is taken over while a node of the previous version writes calls; no row and no id is lost', async () => {
    const { store: old, url } = await undivided()
    const account = await addAccount(old, { user: 1_000_000 })
    for (const at of [5, month(-20).from, now]) await call(old, account, at)
    let running = true
    let calls = 3
    // Both versions use the same ledger functions and the same statements, so this store can act as the node of the
    // previous version.
    const writing = (async () => {
      while (running) {
        await call(old, account, now)
        calls++
      }
    })()
    const store = open(url)
    await migrate(store)
    expect((await logPartitions(store.read)).map(({ name }) => name).sort()).toEqual(['logs_before', 'logs_default'])
    await rollUpUsage(old, now)
    const { state, cut = 0 } = await keepPartitions(store, now)
    running = false
    await writing
    expect(state).toBe('done')
    expect(cut).toBeGreaterThanOrEqual(now + 14 * 86_400)
    for (const at of [now, cut - 1, cut]) await call(old, account, at)
    calls += 3
    expect(await rowsByPartition(store)).toMatchObject({
      logs_before: calls - 1,
      logs_default: 0,
      [monthAt(cut).name]: 1,
    })
    expect(await ids(store)).toEqual(Array.from({ length: calls }, (_, at) => at + 1))
    await rollUpUsage(store, now)
    expect((await balanceFaults(store)).faults).toEqual([])
    expect((await sumCalls(store.read, {}, 0, 0)).quota).toBe(calls * 10)
    // When all rows before the cut have expired, their partition is dropped as a whole.
    expect(await purgeLogs(store, { before: cut, now: cut + 86_400 })).toBe(calls - 1)
    expect((await logPartitions(store.read)).map(({ name }) => name)).not.toContain('logs_before')
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('an interrupted takeover is finished by the next attempt, or undone if little time is left until the date of its cut', async () => {
    for (const days of [1, 20]) {
      const { store } = await undivided()
      const account = await addAccount(store, { user: 1_000 })
      await call(store, account, now)
      await migrate(store)
      const stale = now + days * 86_400
      await sql
        .raw(`alter table logs_before add constraint logs_cut check (created_at < ${stale}) not valid`)
        .execute(store.read)
      const { state, cut } = await keepPartitions(store, now)
      expect(state).toBe('done')
      expect(cut === stale).toBe(days === 20)
      await call(store, account, stale + 1)
      expect((await ids(store)).length).toBe(2)
    }
  })
}

async function call(store: Store, account: Account, at: number): Promise<void> {
  const caps = { model: 'gpt-4o', parts: [''], tokens: 2, least: 10 }
  const crashRow = { channelId: account.channelId, promptTokens: 1, completionTokens: 1 }
  const hold = holdOp(account, 10, { createdAt: now, caps, channelId: account.channelId, crashRow })
  await store.ledger.apply([hold])
  const log = logRow(account, { created_at: at })
  await store.ledger.apply([settleOp(account, hold, 10, { log, placedOn: account.channelId })])
}

const addRow = (store: Store, account: Account, created_at: number, type = 4) =>
  store.write((trx) =>
    trx
      .insertInto('logs')
      .values({ ...logRow(account, { created_at, type }), quota: 0 })
      .execute(),
  )

async function rowsByPartition(store: Store): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; count: number }>`
    select tableoid::regclass::text as name, count(*) as count from logs group by 1`.execute(store.read)
  const counts = new Map(rows.map(({ name, count }) => [name, Number(count)]))
  return Object.fromEntries((await logPartitions(store.read)).map(({ name }) => [name, counts.get(name) ?? 0]))
}

const ids = async (store: Store) =>
  (await store.read.selectFrom('logs').select('id').orderBy('id').execute()).map(({ id }) => Number(id))
