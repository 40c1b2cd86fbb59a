import { afterEach, beforeEach, expect, test } from 'bun:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Account, addAccount, holdOp, logRow, settleOp } from '../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import { setOptions } from '../../test/helpers/mail-server.ts'
import { recordAudit } from '../store/installation/audit.ts'
import { balanceFaults } from '../store/ledger/balance-check.ts'
import { sumCalls } from '../store/usage/usage-query.ts'
import { usageBacklog } from '../store/usage/usage-rollup.ts'
import { countUsage, deleteOld, type LogJobDeps } from './log-jobs.ts'

const day = 86_400

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let account: Account
  let now: number
  let deps: LogJobDeps

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    account = await addAccount(api.store, { user: 1_000_000 })
    now = api.time.ms / 1000
    deps = { ...api, clock: { nowMs: () => api.time.ms }, warn: () => undefined }
  })
  afterEach(() => api.store.close())

  const call = async (daysAgo: number, charge = 10) => {
    const hold = holdOp(account, charge)
    await api.store.ledger.apply([hold])
    const log = logRow(account, { created_at: now - daysAgo * day })
    await api.store.ledger.apply([settleOp(account, hold, charge, { log })])
  }
  const audit = (daysAgo: number) =>
    api.store.write((trx) =>
      recordAudit(trx, {
        created_at: now - daysAgo * day,
        actor_id: 1,
        actor_name: 'root',
        action: `old.${daysAgo}`,
        target: '',
        detail: '',
        ip: '',
      }),
    )
  const left = async () => ({
    logs: (await api.store.read.selectFrom('logs').select('id').execute()).length,
    audit: (await api.store.read.selectFrom('audit_events').select('action').execute())
      .map((row) => row.action)
      .filter((action) => action.startsWith('old.')),
  })

  test('deleteOld deletes rows older than the retention options allow, and keeps balances and usage sums', async () => {
    for (const daysAgo of [0, 9, 10.5, 40]) await call(daysAgo)
    for (const daysAgo of [1, 6, 20]) await audit(daysAgo)
    await setOptions(api, { LogRetentionDays: '10', AuditRetentionDays: '5' })
    await deleteOld(deps)
    expect(await left()).toEqual({ logs: 2, audit: ['old.1'] })
    expect((await balanceFaults(api.store)).faults).toEqual([])
    expect((await sumCalls(api.store.read, {}, 0, 0)).quota).toBe(40)
  })

  test('deleteOld deletes all old rows, even if there are more than fit in one step', async () => {
    const old = logRow(account, { created_at: now - 50 * day, type: 4 })
    for (let step = 0; step < 3; step++) {
      await api.store.write((trx) =>
        trx
          .insertInto('logs')
          .values(Array.from({ length: 400 }, () => ({ ...old, quota: 0 })))
          .execute(),
      )
    }
    await call(0)
    for (let each = 0; each < 600; each += 200) {
      await api.store.write(async (trx) => {
        for (let index = 0; index < 200; index++) {
          await recordAudit(trx, {
            created_at: now - 50 * day,
            actor_id: 1,
            actor_name: '',
            action: 'old.50',
            target: '',
            detail: '',
            ip: '',
          })
        }
      })
    }
    await setOptions(api, { LogRetentionDays: '49', AuditRetentionDays: '49' })
    await deleteOld(deps)
    expect(await left()).toEqual({ logs: 1, audit: [] })
  })

  test('calls run between the steps of a deletion', async () => {
    const old = { ...logRow(account, { created_at: now - 50 * day, type: 4 }), quota: 0 }
    for (let step = 0; step < 5; step++)
      await api.store.write((trx) =>
        trx
          .insertInto('logs')
          .values(Array.from({ length: 500 }, () => old))
          .execute(),
      )
    await setOptions(api, { LogRetentionDays: '49' })
    let running = true
    const seen = new Set<number>()
    const calls = (async () => {
      while (running) {
        await call(0)
        const { rows } = await sql<{ count: number }>`select count(*) as count from logs where type = 4`.execute(
          api.store.read,
        )
        seen.add(Number(rows[0]?.count))
        // SQLite queries are synchronous. Without this pause, the deletion could not run between two calls.
        await setImmediate()
      }
    })()
    await deleteOld(deps)
    running = false
    await calls
    expect(seen.size).toBeGreaterThanOrEqual(3)
    expect((await balanceFaults(api.store)).faults).toEqual([])
  })

  test('a retention of 0 days keeps everything, and each kind of row has its own retention', async () => {
    await call(1000)
    await audit(1000)
    await deleteOld(deps)
    expect(await left()).toEqual({ logs: 1, audit: ['old.1000'] })
    await setOptions(api, { AuditRetentionDays: '30' })
    await deleteOld(deps)
    expect(await left()).toEqual({ logs: 1, audit: [] })
  })

  test('rows of failed calls have their own retention period, which does not apply to other rows', async () => {
    const failed = (daysAgo: number) =>
      api.store.write((trx) =>
        trx
          .insertInto('logs')
          .values({ ...logRow(account, { created_at: now - daysAgo * day, type: 6 }), quota: 0 })
          .execute(),
      )
    const types = async () =>
      (await api.store.read.selectFrom('logs').select('type').orderBy('id').execute()).map(({ type }) => type)
    for (const daysAgo of [5, 15, 45]) {
      await call(daysAgo)
      await failed(daysAgo)
    }
    await deleteOld(deps)
    expect(await types()).toEqual([2, 6, 2, 6, 2])
    api.time.ms += 3_600_000
    await setOptions(api, { LogRetentionDays: '30', ErrorLogRetentionDays: '0' })
    await deleteOld(deps)
    expect(await types()).toEqual([2, 6, 2, 6])
    api.time.ms += 3_600_000
    await setOptions(api, { LogRetentionDays: '10', ErrorLogRetentionDays: '10' })
    await deleteOld(deps)
    expect(await types()).toEqual([2, 6])
    expect((await balanceFaults(api.store)).faults).toEqual([])
  })

  test('deleteOld runs once an hour, even if several nodes call it', async () => {
    await setOptions(api, { LogRetentionDays: '10' })
    await Promise.all([deleteOld(deps), deleteOld(deps)])
    await call(11)
    await deleteOld(deps)
    expect((await left()).logs).toBe(1)
    api.time.ms += 3_600_000
    await deleteOld(deps)
    expect((await left()).logs).toBe(0)
  })

  test('countUsage adds new rows to the usage sums at the end of an hour, or when there are many rows', async () => {
    await call(0)
    await countUsage(deps)
    expect((await usageBacklog(api.store)).rows).toBe(0)
    await call(0)
    await countUsage(deps)
    expect((await usageBacklog(api.store)).rows).toBe(1)
    api.time.ms += 3_600_000
    await countUsage(deps)
    expect((await usageBacklog(api.store)).rows).toBe(0)
    const row = { ...logRow(account, { created_at: now }), quota: 0 }
    for (let step = 0; step < 10; step++) {
      await api.store.write((trx) =>
        trx
          .insertInto('logs')
          .values(Array.from({ length: 400 }, () => row))
          .execute(),
      )
    }
    await countUsage(deps)
    expect((await usageBacklog(api.store)).rows).toBe(0)
  })
})
