import { beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { Limits } from '../../../contract/limits.ts'
import {
  type Account,
  addAccount,
  addSecondToken,
  extendOp,
  figuresOf,
  holdOp,
  settleOp,
} from '../../../test/helpers/accounts.ts'
import { untilDayEndIsFar } from '../../../test/helpers/day-end.ts'
import { forEachLedger } from '../../../test/helpers/ledgers.ts'
import { utcPeriods } from '../../lib/utc.ts'
import type { HoldOp, LedgerOp, SettleOp, SettleResult, TakeResult } from '../schema/ledger-types.ts'
import type { Store } from '../store.ts'
import { balanceFaults } from './balance-check.ts'
import { countOpenCalls, currentMinutes, forgetMinutes } from './limits.ts'

const none: Limits = { rpm_limit: 0, tpm_limit: 0, concurrency_limit: 0, daily_budget: 0, monthly_budget: 0 }
const nowSeconds = () => Math.floor(Date.now() / 1000)

interface Asked {
  token?: Partial<Limits>
  user?: Partial<Limits>
  tokens?: number
  amount?: number
}

/** A hold for a call with limits. By default it takes 10 units and reserves one token in the limits. */
function limited(account: Account, asked: Asked, fields: Partial<HoldOp> = {}): HoldOp {
  const { token, user, tokens = 1, amount = 10 } = asked
  const limits = {
    ...(token && { token: { ...none, ...token } }),
    ...(user && { user: { ...none, ...user } }),
    tokens,
    at: nowSeconds(),
  }
  return holdOp(account, amount, { limits, ...fields })
}

/** Like `settleOp`, but at the current time. */
function settled(account: Account, hold: HoldOp, charge: number, fields: Partial<SettleOp> = {}): SettleOp {
  return settleOp(account, hold, charge, { at: nowSeconds(), ...fields })
}

/** An extension with the limits of its hold. */
function furtherOp(hold: HoldOp, amount: number) {
  const { limits } = hold
  return extendOp(hold, amount, limits && { limits: { token: limits.token, user: limits.user, at: nowSeconds() } })
}

// One suite for both implementations of the LedgerStore interface. PostgreSQL uses its own clock, so the tests let time
// pass by moving the stored rows into the past.
forEachLedger((_name, openFresh) => {
  const takes = async (store: Store, ...ops: LedgerOp[]) => (await store.ledger.apply(ops)) as TakeResult[]
  const take = async (store: Store, op: LedgerOp) => (await takes(store, op))[0] as TakeResult
  const ends = async (store: Store, ...ops: LedgerOp[]) => (await store.ledger.apply(ops)) as SettleResult[]
  const passed = async (store: Store, op: LedgerOp) => (await take(store, op)).ok
  const plenty = { user: 1e9, token: 1e9 }

  async function pass(store: Store, seconds: number): Promise<void> {
    await store.write(async (trx) => {
      // The seconds are part of the key. To avoid conflicts between rows, they are first made negative and then moved.
      await sql`update limit_windows set second = -second`.execute(trx)
      await sql`update limit_windows set second = -second - ${seconds}`.execute(trx)
      await sql`update holds set window_second = window_second - ${seconds}`.execute(trx)
    })
  }

  describe('requests per minute', () => {
    test('with a limit of five requests per minute, 5 of 20 simultaneous calls are admitted, in separate batches or in one batch', async () => {
      for (const together of [false, true]) {
        const store = await openFresh()
        const account = await addAccount(store, plenty)
        const ops = Array.from({ length: 20 }, () => limited(account, { token: { rpm_limit: 5 } }))
        const results = together
          ? await takes(store, ...ops)
          : (await Promise.all(ops.map((op) => takes(store, op)))).flat()
        expect(results.filter((result) => result.ok)).toHaveLength(5)
        for (const refused of results.filter((result) => !result.ok))
          expect(refused).toMatchObject({ reason: 'limit', limit: 'requests', owner: 'token', most: 5 })
        // Nothing is taken or counted for the refused calls.
        expect(await figuresOf(store, account)).toMatchObject({ quota: 1e9 - 50, remain: 1e9 - 50, held: 50 })
        const rows = await store.read.selectFrom('limit_windows').selectAll().execute()
        expect(rows.reduce((sum, row) => sum + row.calls, 0)).toBe(5)
        expect((await balanceFaults(store)).faults).toEqual([])
      }
    })

    test('a call is counted for one minute, whether it has ended or not, and a refusal reports the time until calls are admitted again', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const call = () => limited(account, { token: { rpm_limit: 2 } })
      const first = call()
      expect(await passed(store, first)).toBe(true)
      await ends(store, settled(account, first, 1, { tokens: 1 }))
      await pass(store, 30)
      expect(await passed(store, call())).toBe(true)
      const refused = await take(store, call())
      if (refused.ok || refused.reason !== 'limit') throw new Error('it was not refused')
      expect(refused.retryAfter).toBeGreaterThan(0)
      expect(refused.retryAfter).toBeLessThanOrEqual(31)
      await pass(store, refused.retryAfter)
      expect(await passed(store, call())).toBe(true)
      expect(await passed(store, call())).toBe(false)
    })

    test('a call that was admitted is counted even if all of its quota is given back', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const first = limited(account, { token: { rpm_limit: 1 } })
      await takes(store, first)
      await ends(store, settled(account, first, 0, { channelId: 0, requests: 0, log: undefined, tokens: 0 }))
      expect(await passed(store, limited(account, { token: { rpm_limit: 1 } }))).toBe(false)
    })

    test('a call that is refused for lack of quota is not counted', async () => {
      const store = await openFresh()
      const account = await addAccount(store, { user: 100, token: 100 })
      const limits = { token: { rpm_limit: 1 } }
      expect(await take(store, limited(account, { ...limits, amount: 500 }))).toMatchObject({
        reason: 'token',
        minutes: { token: { calls: 0 } },
      })
      expect(await passed(store, limited(account, limits))).toBe(true)
    })
  })

  describe('tokens per minute', () => {
    const limits = { token: { tpm_limit: 100 } }

    test('the reserved tokens count until the real usage replaces them', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const [first, second] = [limited(account, { ...limits, tokens: 60 }), limited(account, { ...limits, tokens: 40 })]
      expect(await takes(store, first, second)).toMatchObject([{ ok: true }, { ok: true }])
      expect(await take(store, limited(account, limits))).toMatchObject({ limit: 'tokens', most: 100 })
      await ends(store, settled(account, first, 1, { tokens: 20 }))
      expect(await take(store, limited(account, { ...limits, tokens: 41 }))).toMatchObject({ limit: 'tokens' })
      expect(await take(store, limited(account, { ...limits, tokens: 40 }))).toMatchObject({
        ok: true,
        minutes: { token: { calls: 3, tokens: 100 } },
      })
      // A release subtracts all reserved tokens from the count. A settle without a number of tokens subtracts nothing.
      await ends(store, settled(account, second, 0, { channelId: 0, requests: 0, log: undefined, tokens: 0 }))
      const third = limited(account, { ...limits, tokens: 40 })
      expect(await passed(store, third)).toBe(true)
      await ends(store, settled(account, third, 1))
      expect(await passed(store, limited(account, limits))).toBe(false)
    })

    test('tokens that a call uses beyond its reservation count for a minute from the end of the call', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const call = limited(account, { ...limits, tokens: 10 })
      await takes(store, call)
      await pass(store, 90)
      await ends(store, settled(account, call, 1, { tokens: 95 }))
      expect(await take(store, limited(account, { ...limits, tokens: 16 }))).toMatchObject({ limit: 'tokens' })
      expect(await passed(store, limited(account, { ...limits, tokens: 15 }))).toBe(true)
      await pass(store, 61)
      expect(await passed(store, limited(account, { ...limits, tokens: 100 }))).toBe(true)
    })

    test('if a call that began more than a minute ago used less than it reserved, its settle does not change the counts', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const call = limited(account, { ...limits, tokens: 50 })
      await takes(store, call)
      await pass(store, 90)
      await ends(store, settled(account, call, 1, { tokens: 5 }))
      expect(await take(store, limited(account, { ...limits, tokens: 100 }))).toMatchObject({
        ok: true,
        minutes: { token: { tokens: 100 } },
      })
    })

    test('a call that reserves more tokens than the limit per minute is refused, with the limit and a wait of 60 seconds', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      expect(await take(store, limited(account, { ...limits, tokens: 101 }))).toMatchObject({
        limit: 'tokens',
        most: 100,
        retryAfter: 60,
      })
    })
  })

  describe('concurrent calls', () => {
    const limits = { token: { concurrency_limit: 3 } }

    test('with a limit of three open calls, a fourth is refused until one of the three has been settled or released', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const calls = Array.from({ length: 5 }, () => limited(account, limits))
      const results = await takes(store, ...calls)
      expect(results.map((result) => result.ok)).toEqual([true, true, true, false, false])
      expect(results[3]).toEqual({
        ok: false,
        reason: 'limit',
        limit: 'concurrency',
        owner: 'token',
        most: 3,
        retryAfter: 1,
        minutes: {},
      })
      const [first, second, third] = calls as [HoldOp, HoldOp, HoldOp]
      await ends(store, settled(account, first, 1, { tokens: 1 }))
      const next = limited(account, limits)
      expect(await passed(store, next)).toBe(true)
      expect(await passed(store, limited(account, limits))).toBe(false)
      // A settle makes room for a hold in the same batch. Like the settle of a crashed call, this settle has no number
      // of tokens.
      expect(await takes(store, limited(account, limits), settled(account, second, 1))).toMatchObject([
        { ok: true },
        {},
      ])
      await ends(store, ...[third, next].map((hold) => settled(account, hold, 0, { log: undefined })))
      expect(await takes(store, limited(account, limits), limited(account, limits))).toMatchObject([
        { ok: true },
        { ok: true },
      ])
    })

    test('calls that are already open are counted when `countOpenCalls` is called for a new limit', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const other = await addSecondToken(store, account)
      const open = [holdOp(account, 10), holdOp(account, 10), holdOp(other, 10)]
      await takes(store, ...open)
      expect((await store.read.selectFrom('holds').selectAll().execute()).map((hold) => hold.counted)).toEqual([
        0, 0, 0,
      ])
      await store.write((trx) => countOpenCalls(trx, { tokenId: account.tokenId }))
      expect(await passed(store, limited(account, { token: { concurrency_limit: 2 } }))).toBe(false)
      expect(await passed(store, limited(other, { token: { concurrency_limit: 1 } }))).toBe(true)
      await store.write((trx) => countOpenCalls(trx, { userId: account.userId }))
      expect(await passed(store, limited(other, { user: { concurrency_limit: 4 } }))).toBe(false)
      await store.write((trx) => countOpenCalls(trx))
      await ends(store, ...open.map((hold) => settled(account, hold, 5, { tokens: 5 })))
      expect(await passed(store, limited(account, { token: { concurrency_limit: 1 } }))).toBe(true)
    })
  })

  describe("a user's limits", () => {
    test('apply to all tokens of the user together, in addition to the limits of each token', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const other = await addSecondToken(store, account)
      const user = { rpm_limit: 3, tpm_limit: 1000, concurrency_limit: 10 }
      expect(await passed(store, limited(account, { user, token: { rpm_limit: 2 } }))).toBe(true)
      expect(await passed(store, limited(account, { user, token: { rpm_limit: 2 } }))).toBe(true)
      expect(await take(store, limited(account, { user, token: { rpm_limit: 2 } }))).toMatchObject({
        owner: 'token',
        minutes: { token: { calls: 2, tokens: 2 }, user: { calls: 2, tokens: 2 } },
      })
      expect(await passed(store, limited(other, { user }))).toBe(true)
      expect(await take(store, limited(other, { user }))).toMatchObject({ owner: 'user', limit: 'requests', most: 3 })
      const stranger = await addAccount(store, plenty)
      expect(await passed(store, limited(stranger, { user }))).toBe(true)
    })

    test('limit the concurrent calls of all tokens together; tokens per minute are counted for the user and for each token', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const other = await addSecondToken(store, account)
      const user = { tpm_limit: 100, concurrency_limit: 2 }
      const [first, second] = [
        limited(account, { user, token: { tpm_limit: 90 }, tokens: 50 }),
        limited(other, { user, token: { tpm_limit: 90 }, tokens: 50 }),
      ]
      await takes(store, first, second)
      expect(await take(store, limited(other, { user, tokens: 0 }))).toMatchObject({
        limit: 'concurrency',
        owner: 'user',
      })
      await ends(store, settled(account, first, 1, { tokens: 60 }), settled(other, second, 1, { tokens: 10 }))
      const limits = { user: { ...none, ...user }, token: { ...none, tpm_limit: 90 }, at: nowSeconds() }
      expect(await currentMinutes(store, account, limits)).toMatchObject({
        token: { tokens: 60 },
        user: { tokens: 70 },
      })
      expect(await currentMinutes(store, other, limits)).toMatchObject({ token: { tokens: 10 }, user: { tokens: 70 } })
    })
  })

  describe('budgets', () => {
    beforeEach(untilDayEndIsFar)

    const spent = (store: Store, account: Account) =>
      store.read
        .selectFrom('tokens')
        .innerJoin('users', 'users.id', 'tokens.user_id')
        .select([
          'tokens.spent_today as tokenToday',
          'tokens.spent_month as tokenMonth',
          'users.spent_today as userToday',
          'users.spent_month as userMonth',
        ])
        .where('tokens.id', '=', account.tokenId)
        .executeTakeFirstOrThrow()

    test.each([
      ['token', 'daily'],
      ['token', 'monthly'],
      ['user', 'daily'],
      ['user', 'monthly'],
    ] as const)(
      'of a %s (%s) count spent and held quota, and a call can take part of its amount if the budget leaves no more',
      async (owner, budget) => {
        const store = await openFresh()
        const account = await addAccount(store, plenty)
        const limits = { [owner]: { [`${budget}_budget`]: 100 } }
        const first = limited(account, { ...limits, amount: 80 })
        expect(await take(store, first)).toEqual({ ok: true, amount: 80, minutes: {} })
        const askedAt = nowSeconds()
        const refused = await take(store, limited(account, { ...limits, amount: 30 }))
        expect(refused).toMatchObject({ ok: false, reason: owner, budget, available: 20, othersOpen: true, used: 0 })
        const { nextDay, nextMonth } = utcPeriods(askedAt)
        const refusedAt = (budget === 'daily' ? nextDay : nextMonth) - (refused as { retryAfter: number }).retryAfter
        expect(refusedAt).toBeGreaterThanOrEqual(askedAt - 1)
        expect(refusedAt).toBeLessThanOrEqual(nowSeconds() + 1)
        await ends(store, settled(account, first, 60, { tokens: 1 }))
        const second = limited(account, { ...limits, amount: 50 }, { minimum: 1 })
        expect(await take(store, second)).toEqual({ ok: true, amount: 40, minutes: {} })
        expect(await take(store, furtherOp(second, 5))).toMatchObject({ ok: false, budget, available: 0, used: 60 })
        await ends(store, settled(account, second, 40, { tokens: 1 }))
        expect(await take(store, limited(account, limits))).toMatchObject({ budget, available: 0, othersOpen: false })
        // A call that costs nothing needs no budget.
        expect(await passed(store, limited(account, { ...limits, amount: 0 }))).toBe(true)
        expect(await figuresOf(store, account)).toMatchObject({ used: 100, tokenUsed: 100, quota: 1e9 - 100 })
        expect((await balanceFaults(store)).faults).toEqual([])
      },
    )

    test('are unused again when the next day or month begins', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const both = { daily_budget: 100, monthly_budget: 150 }
      const call = limited(account, { user: both, amount: 100 })
      await takes(store, call)
      await ends(store, settled(account, call, 100, { tokens: 1 }))
      expect(await take(store, limited(account, { user: both }))).toMatchObject({ budget: 'daily' })
      const { dayStart, monthStart } = utcPeriods(nowSeconds())
      const spentAt = (seconds: number) =>
        store.write((trx) =>
          trx.updateTable('users').set({ spent_at: seconds }).where('id', '=', account.userId).execute(),
        )
      await spentAt(dayStart - 1)
      expect(
        await take(store, limited(account, { user: { daily_budget: 100 }, amount: 100 }, { minimum: 1 })),
      ).toMatchObject({ ok: true, amount: 100 })
      await spentAt(monthStart - 1)
      expect(
        await take(store, limited(account, { user: { monthly_budget: 150 }, amount: 100 }, { minimum: 1 })),
      ).toMatchObject({ ok: true, amount: 50 })
    })

    test('count what was spent and held before the budget was set', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const [plain, open] = [holdOp(account, 50), holdOp(account, 30)]
      await takes(store, plain, open)
      await ends(store, settled(account, plain, 50))
      expect(await spent(store, account)).toEqual({ tokenToday: 50, tokenMonth: 50, userToday: 50, userMonth: 50 })
      await store.write((trx) => countOpenCalls(trx, { tokenId: account.tokenId }))
      const refused = await take(store, limited(account, { token: { daily_budget: 100 }, amount: 30 }))
      expect(refused).toMatchObject({ budget: 'daily', available: 20, used: 50 })
    })

    test('if a batch settles one call and holds quota for another, the budget counts the charge of the first as spent, not its hold', async () => {
      const store = await openFresh()
      const account = await addAccount(store, plenty)
      const limits = { token: { daily_budget: 100, monthly_budget: 1000 }, user: { monthly_budget: 95 } }
      const first = limited(account, { ...limits, amount: 90 })
      await takes(store, first)
      const results = await takes(
        store,
        limited(account, { ...limits, amount: 60 }, { minimum: 1 }),
        settled(account, first, 40, { tokens: 1 }),
      )
      expect(results[0]).toMatchObject({ ok: true, amount: 55 })
      expect(await take(store, limited(account, limits))).toMatchObject({
        reason: 'user',
        budget: 'monthly',
        available: 0,
      })
    })

    test('a hold gets at most the smallest of the balances and the budgets', async () => {
      const store = await openFresh()
      const account = await addAccount(store, { user: 1000, token: 30 })
      const wish = { amount: 100, token: { daily_budget: 50 } }
      expect(await take(store, limited(account, wish, { minimum: 1 }))).toMatchObject({ ok: true, amount: 30 })
      expect(await take(store, limited(account, wish))).toMatchObject({ ok: false, reason: 'token', available: 0 })
      expect((await take(store, limited(account, wish))) as object).not.toHaveProperty('budget')
    })
  })

  test('`currentMinutes` reads the counts of the last minute, and `forgetMinutes` deletes older counts', async () => {
    const store = await openFresh()
    const account = await addAccount(store, plenty)
    const token = { ...none, rpm_limit: 10, tpm_limit: 1000 }
    await takes(store, limited(account, { token, tokens: 7 }), limited(account, { token, tokens: 5 }))
    const read = () => currentMinutes(store, account, { token, at: nowSeconds() })
    const { token: minute } = await read()
    expect(minute).toMatchObject({ calls: 2, tokens: 12 })
    expect(minute?.callsReset).toBeGreaterThan(0)
    expect(minute?.callsReset).toBeLessThanOrEqual(61)
    const rows = async () => (await store.read.selectFrom('limit_windows').selectAll().execute()).length
    await forgetMinutes(store, nowSeconds())
    expect(await rows()).toBeGreaterThan(0)
    await pass(store, 62)
    expect(await read()).toEqual({ token: { calls: 0, tokens: 0, callsReset: 0, tokensReset: 0 } })
    await pass(store, 65)
    await forgetMinutes(store, nowSeconds())
    expect(await rows()).toBe(0)
  })

  test('a call without limits is not counted anywhere', async () => {
    const store = await openFresh()
    const account = await addAccount(store, plenty)
    const hold = holdOp(account, 10)
    expect(await take(store, hold)).toEqual({ ok: true, amount: 10 })
    expect(await store.read.selectFrom('holds').select(['counted', 'window_tokens']).execute()).toEqual([
      { counted: 0, window_tokens: 0 },
    ])
    await ends(store, settled(account, hold, 5, { tokens: 100 }))
    expect(await store.read.selectFrom('limit_windows').selectAll().execute()).toEqual([])
  })
})
