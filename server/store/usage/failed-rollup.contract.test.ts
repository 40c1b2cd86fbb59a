// A rollup consists of many statements. If one of them fails, its transaction must be rolled back, and the caller must
// get the error. The next rollup must count the rows that were not counted.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { logType } from '../../../contract/log-types.ts'
import { logRow } from '../../../test/helpers/accounts.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { balanceFaults } from '../ledger/balance-check.ts'
import { purgeLogs } from '../logs/log-purge.ts'
import type { Store } from '../store.ts'
import { rankUsage } from './usage-query.ts'
import { rollUpUsage } from './usage-rollup.ts'

const hour = 3600
const day = 24 * hour
/** The midnight at which a week begins. */
const start = 2800 * 7 * day
const end = start + 21 * day

type Statement = readonly ['insert' | 'update' | 'delete', string]

forEachDatabase((name, openFresh) => {
  let store: Store
  let written: { model: string; quota: number; at: number }[]

  beforeEach(async () => {
    store = await openFresh()
    written = []
  })
  afterEach(() => store.close())

  /** Writes a charged call on every second day, and a failed call on each of these days. */
  async function write(quota: number): Promise<void> {
    const rows = Array.from({ length: 10 }, (_, index) => ({
      ...logRow({ userId: 1, tokenId: 1, channelId: 1 }),
      type: logType.consume,
      status: 200,
      model_name: `model${index % 3}`,
      quota: quota + index,
      created_at: start + index * 2 * day + 5,
    }))
    const failed = rows.map((row) => ({ ...row, type: logType.error, quota: 0, status: 503 }))
    await store.write((trx) =>
      trx
        .insertInto('logs')
        .values([...rows, ...failed])
        .execute(),
    )
    written.push(...rows.map((row) => ({ model: row.model_name, quota: row.quota, at: row.created_at })))
  }

  /** Calls `run` while every statement with this operation on this table fails. */
  async function broken([operation, table]: Statement, run: () => Promise<void>): Promise<void> {
    const execute = (text: string) => store.write((trx) => sql.raw(text).execute(trx))
    if (name === 'sqlite')
      await execute(
        `create trigger broken before ${operation} on ${table} begin select raise(abort, 'broken ${operation}'); end`,
      )
    else {
      await execute(`create or replace function broken() returns trigger language plpgsql as $$
        begin raise exception 'broken ${operation}'; end $$`)
      await execute(`create trigger broken before ${operation} on ${table} for each row execute function broken()`)
    }
    await run()
    await execute(name === 'sqlite' ? 'drop trigger broken' : `drop trigger broken on ${table}`)
  }

  /**
   * Checks that the charges of each model match the rows, over all days and over a range that begins and ends in the
   * middle of a day.
   */
  async function expectSums(context: unknown): Promise<void> {
    for (const [from, to] of [
      [start / hour, end / hour],
      [start / hour + 20, end / hour - 100],
    ] as const) {
      const range = { from, to }
      const { top } = await rankUsage(store.read, { filter: {}, range, group: 'model_name', metric: 'quota', limit: 5 })
      const expected = new Map<unknown, number>()
      for (const { model, quota, at } of written)
        if (at >= from * hour && at < to * hour) expected.set(model, (expected.get(model) ?? 0) + quota)
      expect([context, new Map(top.map(({ g, quota }) => [g, quota]))]).toEqual([context, expected])
    }
    expect([context, (await balanceFaults(store)).faults.filter(({ kind }) => kind === 'usage')]).toEqual([context, []])
  }

  async function expectFailure(statement: Statement, run: () => Promise<unknown>): Promise<void> {
    await broken(statement, async () => {
      const failed = await run().then(
        () => 'nothing failed',
        (error: unknown) => String(error),
      )
      expect([statement, failed]).toEqual([statement, expect.stringContaining(`broken ${statement[0]}`)])
    })
    await expectSums(statement)
  }

  async function expectFailures(count: number): Promise<void> {
    const { rows } = await sql<{ failures: number }>`
      select cast(sum(failures) as bigint) as failures from service_failures`.execute(store.read)
    expect(rows).toEqual([{ failures: count }])
  }

  // The statements are in the order in which a rollup runs them. Steps before a failed statement stay committed, so in
  // another order some of the statements would have nothing left to do.
  const statements: Statement[] = [
    ['insert', 'usage_fold'],
    ['insert', 'usage_series'],
    ['insert', 'usage_hours'],
    ['insert', 'usage_dates'],
    ['insert', 'service_failures'],
    ['delete', 'usage_fold'],
    ['update', 'usage_state'],
    ...(name === 'postgres' ? ([['delete', 'usage_hours']] as const) : []),
    ['insert', 'usage_days'],
    ['update', 'usage_series'],
    ...(name === 'postgres' ? ([['delete', 'usage_days']] as const) : []),
    ['insert', 'usage_weeks'],
  ]

  test('if a statement fails, the step of the rollup is rolled back, and the next rollup repeats it', async () => {
    await write(100)
    for (const statement of statements) await expectFailure(statement, () => rollUpUsage(store, end))
    await rollUpUsage(store, end)
    await expectSums('after all')
    await expectFailures(10)
  })

  test('if a statement fails while late rows are counted, the step is rolled back, and the next rollup repeats it', async () => {
    await write(100)
    await rollUpUsage(store, end)
    await write(1000)
    const late: Statement[] = [
      ['insert', 'usage_part'],
      ['insert', 'usage_days'],
      ['update', 'usage_series'],
      ['insert', 'usage_weeks'],
      ['delete', 'usage_part'],
      ['insert', 'service_failures'],
      ['update', 'usage_hours'],
    ]
    for (const statement of late) await expectFailure(statement, () => rollUpUsage(store, end))
    await rollUpUsage(store, end)
    await expectSums('after all')
    await expectFailures(20)
    // All rows are counted, so this rollup changes only the numbers of complete days and weeks.
    await expectFailure(['update', 'usage_state'], () => rollUpUsage(store, end + 7 * day))
    await rollUpUsage(store, end + 7 * day)
    await expectSums('in the next week')
  })

  test('if a statement of a purge fails, the log rows are not deleted', async () => {
    await write(100)
    await rollUpUsage(store, end)
    const purged: Statement[] = [
      ['insert', 'usage_fold'],
      ['insert', 'usage_part'],
      ['update', 'usage_hours'],
      ['delete', 'usage_part'],
      ['delete', 'usage_fold'],
      ['delete', 'logs'],
    ]
    for (const statement of purged) {
      await expectFailure(statement, () => purgeLogs(store, { before: end, now: end }))
      const { rows } = await sql<{ rows: number }>`select count(*) as rows from logs`.execute(store.read)
      expect([statement, rows]).toEqual([statement, [{ rows: 20 }]])
    }
    expect(await purgeLogs(store, { before: end, now: end })).toBe(20)
    await expectSums('after all')
  })
})
