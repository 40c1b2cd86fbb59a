// These tests write rows and keep a copy of them in memory. They compare every figure from the database with a figure
// that simple code calculates from the copy.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Insertable } from 'kysely'
import { addAccount, holdOp, logRow, settleOp } from '../../../test/helpers/accounts.ts'
import { forEachDatabaseUrl } from '../../../test/helpers/databases.ts'
import { openStore } from '../connection/open.ts'
import { balanceFaults } from '../ledger/balance-check.ts'
import { countByHour, type LogFilter } from '../logs/log-hours.ts'
import { type LogRow, listLogs, walkLogs } from '../logs/log-pages.ts'
import { purgeLogs } from '../logs/log-purge.ts'
import { migrate } from '../migrations/migrate.ts'
import type { LogsTable } from '../schema/tables.ts'
import type { Store } from '../store.ts'
import { firstUsageHour, rankUsage, sumCalls, usageInBuckets } from './usage-query.ts'
import { rollUpUsage, usageBacklog } from './usage-rollup.ts'
import type { Dimension, RowFilter } from './usage-series.ts'

const hour = 3600
const day = 24 * hour
/** A time on a Wednesday, in the middle of an hour. */
const start = 1_700_000_000 - 30 * day
const end = 1_700_000_000
const days = (end - start) / day

type Row = Insertable<LogsTable> & { created_at: number; quota: number }

function createRandom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (state >>> 8) % below
  }
}

function randomRow(random: (below: number) => number): Row {
  const userId = 1 + random(3)
  const tokenId = userId * 10 + random(2)
  const type = random(10) === 0 ? 1 + random(5) : 2
  return {
    ...logRow({ userId, tokenId, channelId: 1 + random(3) }),
    type,
    username: random(20) === 0 ? 'renamed' : `user${userId}`,
    token_name: `token${tokenId % 4}`,
    model_name: `model_${random(4)}%`,
    created_at: start + random(days * day),
    quota: random(1000),
    cost: random(3) === 0 ? null : random(800),
    prompt_tokens: random(500),
    completion_tokens: random(500),
    cached_tokens: random(100),
    elapsed_time: random(5000),
    first_byte_time: random(3) === 0 ? 0 : random(900),
    outcome: ['complete', 'complete', 'aborted', 'interrupted', 'failed'][random(5)] ?? '',
  }
}

const matches = (row: Row, filter: RowFilter) =>
  (!filter.userId || row.user_id === filter.userId) &&
  (!filter.type || row.type === filter.type) &&
  (!filter.username || row.username === filter.username) &&
  (!filter.token_name || row.token_name === filter.token_name) &&
  (!filter.model_name || row.model_name === filter.model_name) &&
  (!filter.channel || row.channel_id === filter.channel)

const filters: RowFilter[] = [
  {},
  { type: 1 },
  { userId: 2 },
  { username: 'user1' },
  { username: 'renamed' },
  { token_name: 'token2' },
  { model_name: 'model_1%' },
  { model_name: 'model_%' },
  { channel: 2 },
  { channel: 3, model_name: 'model_0%' },
  { userId: 3, model_name: 'model_2%' },
  { username: 'user2', token_name: 'token0', model_name: 'model_3%', channel: 1 },
]

function figuresOf(rows: readonly Row[]) {
  const sum = (value: (row: Row) => number) => rows.reduce((total, row) => total + value(row), 0)
  return {
    requests: rows.length,
    quota: sum((row) => row.quota),
    prompt_tokens: sum((row) => row.prompt_tokens),
    completion_tokens: sum((row) => row.completion_tokens),
    cached_tokens: sum((row) => row.cached_tokens),
    failed: sum((row) => (row.outcome === 'failed' || row.outcome === 'interrupted' ? 1 : 0)),
    elapsed_time: sum((row) => row.elapsed_time),
    first_byte_time: sum((row) => row.first_byte_time),
    first_byte_count: sum((row) => (row.first_byte_time > 0 ? 1 : 0)),
    cost: sum((row) => row.cost ?? 0),
    margin: sum((row) => (row.cost == null ? 0 : row.quota - row.cost)),
  }
}

function groupBy<Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>()
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row])
  return groups
}

forEachDatabaseUrl((name, freshUrl) => {
  let url: string
  let store: Store
  let random: (below: number) => number
  /** All rows that the test has written, and those of them that have not been deleted. */
  let written: Row[]
  let there: Row[]

  beforeEach(async () => {
    url = await freshUrl()
    store = openStore({ url })
    await migrate(store)
    random = createRandom(7)
    written = []
    there = []
  })
  afterEach(() => store.close())

  async function write(count: number, fields: Partial<Row> = {}): Promise<void> {
    const rows = Array.from({ length: count }, () => ({ ...randomRow(random), ...fields }))
    for (let at = 0; at < rows.length; at += 400) {
      await store.write((trx) =>
        trx
          .insertInto('logs')
          .values(rows.slice(at, at + 400))
          .execute(),
      )
    }
    written.push(...rows)
    there.push(...rows)
  }

  async function expectRanking(filter: RowFilter, from: number, to: number): Promise<void> {
    const rows = written.filter(
      (row) =>
        row.type === 2 &&
        matches(row, { ...filter, type: 0 }) &&
        row.created_at >= from * hour &&
        row.created_at < to * hour,
    )
    for (const group of ['model_name', 'token_id', 'user_id', 'channel_id'] as const satisfies Dimension[]) {
      const groups = [...groupBy(rows, (row) => row[group])].map(([g, of]) => ({ g, ...figuresOf(of) }))
      groups.sort((a, b) => b.quota - a.quota)
      const ranking = await rankUsage(store.read, { filter, range: { from, to }, group, metric: 'quota', limit: 3 })
      expect([filter, group, ranking]).toEqual([
        filter,
        group,
        { total: figuresOf(rows), count: groups.length, top: groups.slice(0, 3) },
      ])
    }
    const { total } = await rankUsage(store.read, {
      filter,
      range: { from, to },
      group: undefined,
      metric: 'quota',
      limit: 1,
    })
    expect([filter, total]).toEqual([filter, figuresOf(rows)])
  }

  async function expectBuckets(filter: RowFilter, minutes: number, shift: number): Promise<void> {
    const [from, to] = [Math.floor(start / hour) + 30, Math.floor(end / hour) - 50]
    const bucketOf = (row: Row) => Math.floor((Math.floor(row.created_at / hour) * 60 + shift) / minutes)
    const rows = written.filter(
      (row) => row.type === 2 && matches(row, filter) && row.created_at >= from * hour && row.created_at < to * hour,
    )
    const expected = [
      ...[...groupBy(rows, bucketOf)].map(([bucket, of]) => [null, bucket, of] as const),
      ...['model_1%', 'model_2%'].flatMap((model) =>
        [
          ...groupBy(
            rows.filter((row) => row.model_name === model),
            bucketOf,
          ),
        ].map(([bucket, of]) => [model, bucket, of] as const),
      ),
    ].map(([g, bucket, of]) => ({ g, bucket, over: figuresOf(of).elapsed_time, under: of.length }))
    const found = await usageInBuckets(store.read, {
      filter,
      range: { from, to },
      group: 'model_name',
      metric: 'duration',
      only: ['model_1%', 'model_2%'],
      bucket: { minutes, shift },
    })
    const order = (a: { g: unknown; bucket: number }, b: { g: unknown; bucket: number }) =>
      String(a.g).localeCompare(String(b.g)) || a.bucket - b.bucket
    expect(found.sort(order)).toEqual(expected.sort(order))
  }

  async function expectSum(filter: RowFilter, from: number, to: number): Promise<void> {
    const rows = written.filter(
      (row) =>
        (row.type === 2 || row.type === 6) &&
        matches(row, { ...filter, type: 0 }) &&
        row.created_at >= from &&
        (to === 0 || row.created_at <= to),
    )
    const { requests, failed, quota, prompt_tokens, completion_tokens } = figuresOf(rows)
    const expected = { quota, token: prompt_tokens + completion_tokens, calls: requests, failed }
    const found = await sumCalls(store.read, filter, from, to)
    expect([filter, from, to, found]).toEqual([filter, from, to, expected])
  }

  async function expectList(filter: LogFilter): Promise<void> {
    const rows = there.filter(
      (row) =>
        matches(row, filter) &&
        row.created_at >= filter.start_timestamp &&
        (filter.end_timestamp === 0 || row.created_at <= filter.end_timestamp),
    )
    const times = rows.map((row) => row.created_at).sort((a, b) => b - a)
    const page = async (offset: number, descending: boolean) => {
      const { rows, total } = await listLogs(store.read, filter, { offset, limit: 7, sort: 'created_at', descending })
      return { times: rows.map((row) => row.created_at), total }
    }
    for (const offset of [5, Math.max(0, rows.length - 3), rows.length + 10]) {
      expect(await page(offset, true)).toEqual({ times: times.slice(offset, offset + 7), total: rows.length })
      expect(await page(offset, false)).toEqual({
        times: times.toReversed().slice(offset, offset + 7),
        total: rows.length,
      })
    }
    const walked: LogRow[] = []
    for await (const step of walkLogs(store.read, filter, 50)) walked.push(...step)
    expect(new Set(walked.map((row) => row.id)).size).toBe(rows.length)
    const hours = walked.map((row) => Math.floor(row.created_at / hour))
    expect(hours).toEqual([...hours].sort((a, b) => b - a))
    expect(figuresOf(walked)).toEqual(figuresOf(rows))
    const counted = await countByHour(store.read, filter, { minutes: 60, shift: 0 })
    expect(counted.map(({ bucket, type, rows }) => `${bucket} ${type} ${rows}`).sort()).toEqual(
      [...groupBy(rows, (row) => `${Math.floor(row.created_at / hour)} ${row.type}`)]
        .map(([key, of]) => `${key} ${of.length}`)
        .sort(),
    )
  }

  /** Checks all figures. `turn` varies the combinations of ranges and filters. */
  async function expectExact(turn: number): Promise<void> {
    const [first, last] = [Math.floor(start / hour), Math.floor(end / hour) + 1]
    const hourRanges = [
      [first, last],
      [first + 29, first + 29 + 24 * 5 + 7],
      [first + 200, first + 203],
    ] as const
    const secondRanges = [
      [start + 12_345, end - 54_321],
      [start + 5 * day, start + 5 * day + 1800],
      [start + 5 * day + 3000, start + 5 * day + 6000],
    ] as const
    for (const [index, filter] of filters.entries()) {
      await expectRanking(filter, ...(hourRanges[(index + turn) % 3] ?? [first, last]))
      await expectSum(filter, 0, 0)
      await expectSum(filter, ...(secondRanges[(index + turn) % 3] ?? [0, 0]))
      const isOpen = (index + turn) % 2 === 0
      await expectList({
        ...filter,
        start_timestamp: isOpen ? 0 : start + 3 * day + 17,
        end_timestamp: isOpen ? 0 : end - 2 * day - 1234,
      })
    }
    await expectBuckets({}, 60, 0)
    await expectBuckets({ userId: 1 }, 1440, 0)
    await expectBuckets({}, 1440, 480)
    await expectBuckets({ channel: 2 }, 1440, 330)
    // Shifts with which local days begin in the first half of a UTC day, in its middle, and within one hour of midnight
    // UTC (before and after it).
    const shifts = [1440 - 300, 1440 + 720, 45, 1440 + 1425]
    for (const [index, filter] of [{ userId: 2 }, {}, { channel: 1 }, { username: 'user1' }].entries())
      await expectBuckets(filter, 1440, shifts[(index + turn) % shifts.length] ?? 0)
  }

  test('a list sorted by cost contains the newest hours with up to 5,000 rows together, and reports how many rows match', async () => {
    await write(2800, { created_at: start })
    await write(2900, { created_at: start + hour })
    const list = async (filter: RowFilter) => {
      const page = { offset: 0, limit: 10, sort: 'quota', descending: true } as const
      const { rows, ...counts } = await listLogs(store.read, { start_timestamp: 0, end_timestamp: 0, ...filter }, page)
      return { counts, quotas: rows.map((row) => row.quota) }
    }
    const highest = (rows: readonly Row[]) =>
      rows
        .map((row) => row.quota)
        .sort((a, b) => b - a)
        .slice(0, 10)
    expect(await list({})).toEqual({ counts: { total: 2900, matching: 5700 }, quotas: highest(there.slice(2800)) })
    expect(await list({ model_name: 'none' })).toEqual({ counts: { total: 0, matching: 0 }, quotas: [] })
    const ofUser = there.filter((row) => row.user_id === 2)
    const counts = { total: ofUser.length, matching: ofUser.length }
    expect(await list({ userId: 2 })).toEqual({ counts, quotas: highest(ofUser) })
  })

  test('figures, lists and counts are exact before, between and after rollups, with late rows, and after a purge', async () => {
    await write(900)
    await expectExact(0)
    expect((await usageBacklog(store)).rows).toBe(900)

    await rollUpUsage(store, end)
    expect((await usageBacklog(store)).rows).toBe(0)
    await expectExact(1)

    // Some of the new rows are in hours and days that have already been summed up.
    await write(300)
    await expectExact(2)
    await rollUpUsage(store, end + day)
    await expectExact(3)

    const before = start + 10 * day + 777
    expect(await purgeLogs(store, { before, now: end + day })).toBe(
      there.filter((row) => row.created_at < before).length,
    )
    there = there.filter((row) => row.created_at >= before)
    for (const filter of filters.slice(0, 8)) {
      await expectRanking(filter, Math.floor(start / hour), Math.floor(end / hour) + 1)
      await expectList({ ...filter, start_timestamp: 0, end_timestamp: 0 })
    }
    expect((await balanceFaults(store)).faults.filter(({ kind }) => kind === 'usage')).toEqual([])
  }, 120_000)

  test('if a rollup needs several steps, each row is counted once', async () => {
    await write(5200)
    await rollUpUsage(store, end)
    expect((await usageBacklog(store)).rows).toBe(0)
    await expectRanking({}, Math.floor(start / hour), Math.floor(end / hour) + 1)
    await expectBuckets({ userId: 1 }, 1440, 480)
    expect((await balanceFaults(store)).faults.filter(({ kind }) => kind === 'usage')).toEqual([])
  }, 120_000)

  test('`firstUsageHour` returns the hour of the first matching call', async () => {
    await write(5, { type: 1, created_at: start })
    await write(3, { type: 2, created_at: start + 5 * hour, model_name: 'a' })
    await write(3, { type: 2, created_at: start + 9 * hour, model_name: 'b' })
    for (let round = 0; round < 2; round++) {
      expect(await firstUsageHour(store.read, {})).toBe(Math.floor(start / hour) + 5)
      expect(await firstUsageHour(store.read, { model_name: 'b' })).toBe(Math.floor(start / hour) + 9)
      expect(await firstUsageHour(store.read, { model_name: 'c' })).toBeUndefined()
      await rollUpUsage(store, end)
    }
  })

  test('the balance check reports rows that were deleted without being subtracted from the counts', async () => {
    await write(4, { type: 2 })
    await rollUpUsage(store, end)
    await store.write((trx) => trx.deleteFrom('logs').where('id', '=', 1).execute())
    const { faults } = await balanceFaults(store)
    expect(faults.filter(({ kind }) => kind === 'usage')).toEqual([
      { kind: 'usage', id: 2, text: '4 log rows of this type are counted, but 3 exist' },
    ])
  })

  test('calls that are charged while rows are counted and purged are each counted once', async () => {
    const nodes = name === 'postgres' ? [store, openStore({ url })] : [store]
    try {
      const account = await addAccount(store, { user: 1_000_000 })
      let done = false
      const call = async (node: Store, index: number) => {
        const hold = holdOp(account, 10)
        await node.ledger.apply([hold])
        const at = start + index * 600
        await node.ledger.apply([
          settleOp(account, hold, 1 + (index % 9), { log: logRow(account, { created_at: at }) }),
        ])
      }
      const counting = nodes.map(async (node) => {
        for (let step = 0; !done; step++) {
          await rollUpUsage(node, end)
          if (step % 5 === 4) await purgeLogs(node, { before: start + step * hour, now: end })
          await new Promise((resolve) => setImmediate(resolve))
        }
      })
      const seen: number[] = []
      await Promise.all(
        Array.from({ length: 8 }, async (_, worker) => {
          for (let round = 0; round < 40; round++) {
            await call(nodes[worker % nodes.length] ?? store, worker * 40 + round)
            if (worker === 0) seen.push((await sumCalls(store.read, {}, 0, 0)).quota)
          }
        }),
      )
      done = true
      await Promise.all(counting)
      const expected = Array.from({ length: 320 }, (_, index) => 1 + (index % 9)).reduce((sum, charge) => sum + charge)
      expect(await sumCalls(store.read, {}, 0, 0)).toEqual({ quota: expected, token: 640, calls: 320, failed: 0 })
      // The sums never fell, so no call was missing from them at any time.
      expect(seen).toEqual([...seen].sort((a, b) => a - b))
      await rollUpUsage(store, end)
      expect(await sumCalls(store.read, {}, 0, 0)).toEqual({ quota: expected, token: 640, calls: 320, failed: 0 })
      expect((await balanceFaults(store)).faults).toEqual([])
    } finally {
      for (const node of nodes.slice(1)) await node.close()
    }
  }, 120_000)

  if (name === 'postgres') {
    test('a row that is committed after a row with a higher id has been written is still counted', async () => {
      const other = openStore({ url })
      try {
        const mayCommit = Promise.withResolvers<void>()
        const isOpen = Promise.withResolvers<void>()
        const slow = other.write(async (trx) => {
          await trx
            .insertInto('logs')
            .values({ ...randomRow(random), type: 2, quota: 5 })
            .execute()
          isOpen.resolve()
          await mayCommit.promise
        })
        await isOpen.promise
        // This row gets the higher id, but is committed first.
        await write(1, { type: 2, quota: 7 })
        await rollUpUsage(store, end)
        expect((await sumCalls(store.read, {}, 0, 0)).quota).toBe(7)
        mayCommit.resolve()
        await slow
        expect((await sumCalls(store.read, {}, 0, 0)).quota).toBe(12)
        await rollUpUsage(store, end)
        expect((await usageBacklog(store)).rows).toBe(0)
        expect((await sumCalls(store.read, {}, 0, 0)).quota).toBe(12)
      } finally {
        await other.close()
      }
    })
  }
})
