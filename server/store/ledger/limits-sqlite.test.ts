// Tests of the limits on SQLite, where the ledger uses the times of the operations. These tests can therefore set the
// time to the second.
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Limits } from '../../../contract/limits.ts'
import { type Account, addAccount, holdOp, settleOp } from '../../../test/helpers/accounts.ts'
import { openStore } from '../connection/open.ts'
import { migrate } from '../migrations/migrate.ts'
import type { TakeResult } from '../schema/ledger-types.ts'

const none: Limits = { rpm_limit: 0, tpm_limit: 0, concurrency_limit: 0, daily_budget: 0, monthly_budget: 0 }

/** A ledger with one account. Its `call` makes a hold, and can settle it, at a given time. */
async function startClocked() {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
  const store = openStore({ url: join(folder, 'test.db') })
  await migrate(store)
  const account: Account = await addAccount(store, { user: 1e12 })
  const first = async (op: Parameters<typeof store.ledger.apply>[0][number]) => (await store.ledger.apply([op]))[0]
  return {
    /**
     * Makes a hold of `amount` units that reserves one token in the limits. If `charge` is given, the hold is settled
     * immediately.
     */
    async call(limits: Partial<Limits>, at: number, { amount = 0, charge }: { amount?: number; charge?: number } = {}) {
      const token = { ...none, ...limits }
      const op = holdOp(account, amount, { createdAt: at, limits: { token, tokens: 1, at } })
      const result = (await first(op)) as TakeResult
      if (result.ok && charge !== undefined) await first(settleOp(account, op, charge, { at, tokens: 1 }))
      return result
    },
    async [Symbol.asyncDispose]() {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const waitOf = (result: TakeResult) => ('retryAfter' in result ? result.retryAfter : undefined)

test('the limit per minute holds in any 60 seconds, and a refused call is admitted as soon as the limit allows it', async () => {
  await using clocked = await startClocked()
  const limits = { rpm_limit: 7 }
  const letThrough: number[] = []
  // The current time in milliseconds. The ledger sees only whole seconds. The times of the calls are pseudo-random, but
  // the same in every run.
  let nowMs = 1_700_000_000_123
  let step = 1
  let refusals = 0
  while (letThrough.length < 400) {
    step = (step * 7919 + 104_729) % 15_485_863
    nowMs += step % 5 === 0 ? step % 40_000 : step % 900
    const at = Math.floor(nowMs / 1000)
    const result = await clocked.call(limits, at)
    if (result.ok) {
      letThrough.push(nowMs)
      continue
    }
    refusals++
    const wait = waitOf(result) ?? 0
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(61)
    if (step % 3 !== 0) continue
    expect((await clocked.call(limits, at + wait - 1)).ok).toBe(false)
    nowMs = (at + wait) * 1000
    expect((await clocked.call(limits, at + wait)).ok).toBe(true)
    letThrough.push(nowMs)
  }
  expect(refusals).toBeGreaterThan(100)
  const eighth = letThrough.map((time, index) => (letThrough[index + 7] ?? Number.POSITIVE_INFINITY) - time)
  // With a limit of 7, at least 60 seconds lie between a call and the seventh call after it. The shortest such time is
  // at most 61 seconds, so calls are not delayed much longer than necessary.
  expect(Math.min(...eighth)).toBeGreaterThanOrEqual(60_000)
  expect(Math.min(...eighth)).toBeLessThanOrEqual(61_000)
})

test('a call reports how much of the limit per minute is used, and the seconds until none of it is used', async () => {
  await using clocked = await startClocked()
  const limits = { rpm_limit: 3, tpm_limit: 100 }
  await clocked.call(limits, 1000)
  expect(await clocked.call(limits, 1020)).toMatchObject({
    ok: true,
    minutes: { token: { calls: 2, tokens: 2, callsReset: 61, tokensReset: 61 } },
  })
  await clocked.call(limits, 1030)
  expect(await clocked.call(limits, 1050)).toMatchObject({
    ok: false,
    retryAfter: 11,
    minutes: { token: { calls: 3, tokens: 3, callsReset: 41, tokensReset: 41 } },
  })
})

test('a clock that is set back does not admit additional calls', async () => {
  await using clocked = await startClocked()
  expect((await clocked.call({ rpm_limit: 1 }, 2000)).ok).toBe(true)
  expect((await clocked.call({ rpm_limit: 1 }, 1500)).ok).toBe(false)
})

test('days and months begin at 00:00 UTC', async () => {
  await using clocked = await startClocked()
  const limits = { daily_budget: 100, monthly_budget: 250 }
  const time = (text: string) => Date.parse(text) / 1000
  const spend = (text: string, charge: number) => clocked.call(limits, time(text), { amount: charge, charge })
  expect((await spend('2024-02-28T10:00:00Z', 100)).ok).toBe(true)
  expect(await spend('2024-02-28T23:59:00Z', 1)).toMatchObject({ budget: 'daily', available: 0, retryAfter: 60 })
  expect((await spend('2024-02-29T00:00:00Z', 100)).ok).toBe(true)
  // On the last day of the month the daily budget is used up. On the first day of the next month, both budgets are
  // unused again.
  expect(await spend('2024-02-29T23:59:59Z', 1)).toMatchObject({ budget: 'daily', retryAfter: 1 })
  expect((await spend('2024-03-01T00:00:00Z', 100)).ok).toBe(true)
  expect((await spend('2024-03-02T00:00:00Z', 100)).ok).toBe(true)
  expect((await spend('2024-03-03T00:00:00Z', 50)).ok).toBe(true)
  expect(await spend('2024-03-04T12:00:00Z', 1)).toMatchObject({
    budget: 'monthly',
    available: 0,
    retryAfter: time('2024-04-01T00:00:00Z') - time('2024-03-04T12:00:00Z'),
  })
  expect((await spend('2024-12-31T23:59:59Z', 100)).ok).toBe(true)
  expect((await spend('2025-01-01T00:00:00Z', 100)).ok).toBe(true)
})
