import { expect, test } from 'bun:test'
import { type Account, addAccount, figuresOf, logRow } from '../../test/helpers/accounts.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import { untilDayEndIsFar } from '../../test/helpers/day-end.ts'
import type { GatewayError } from '../errors.ts'
import { systemClock } from '../lib/clock.ts'
import { requestId } from '../lib/secrets/ids.ts'
import { balanceFaults } from '../store/ledger/balance-check.ts'
import { logsOfRequest } from '../store/logs/log-request.ts'
import type { LedgerStore } from '../store/schema/ledger-types.ts'
import type { Store } from '../store/store.ts'
import { createBatcher } from './batcher.ts'
import { createLedger, type HoldRequest, type Ledger, type Settlement } from './ledger.ts'
import type { CallLimits } from './limits.ts'
import { createReturnQueue } from './return-queue.ts'

interface Made {
  ledger: Ledger
  retries: unknown[]
  lost: [id: string, charge: number][]
  refused: [requestId: string, charge: number][]
}

function ledgerOn(store: Store, options: { through?: LedgerStore; waitMs?: number } = {}): Made {
  const retries: unknown[] = []
  const lost: Made['lost'] = []
  const refused: Made['refused'] = []
  const ledger = createLedger({
    batcher: createBatcher(options.through ?? store.ledger),
    returns: createReturnQueue(() => performance.now()),
    clock: systemClock,
    nodeId: 'test node',
    holdWaitMs: () => options.waitMs ?? 5000,
    onSettleRetry: (error) => retries.push(error),
    onHoldLost: (id, charge) => lost.push([id, charge]),
    onRowRefused: (requestId, charge) => refused.push([requestId, charge]),
    rowsOf: (requestId) => logsOfRequest(store.read, requestId),
  })
  return { ledger, retries, lost, refused }
}

function asking(account: Account, amount: number, least = amount, fields: Partial<HoldRequest> = {}): HoldRequest {
  const { userId, tokenId } = account
  return { userId, tokenId, amount, least, crashCharge: 1, modelName: 'gpt-4o', requestId: 'r', ...fields }
}

const charging = (account: Account, charge: number): Settlement => ({
  charge,
  channelId: account.channelId,
  log: logRow(account),
  mayGoNegative: false,
})

const noLimits = { rpm_limit: 0, tpm_limit: 0, concurrency_limit: 0, daily_budget: 0, monthly_budget: 0 }

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'taken',
    (error: GatewayError) => `${error.status} ${error.code}`,
  )

forEachDatabase((_name, openFresh) => {
  test('tryHold takes all or nothing, and does not wait', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const { ledger } = ledgerOn(store)
    const hold = await ledger.tryHold(asking(account, 60))
    expect(hold?.amount).toBe(60)
    expect(await ledger.tryHold(asking(account, 60, 10))).toBeUndefined()
    expect(ledger.openHolds()).toBe(1)
    await hold?.release()
    expect(ledger.openHolds()).toBe(0)
    expect(await figuresOf(store, account)).toMatchObject({ remain: 100, held: 0, requests: 0 })
  })

  test('hold waits for quota that an open call gives back, and gets the whole amount', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const { ledger } = ledgerOn(store)
    const first = await ledger.hold(asking(account, 80))
    const second = ledger.hold(asking(account, 70, 10))
    await first.settle(charging(account, 30))
    expect((await second).amount).toBe(70)
    expect(await figuresOf(store, account)).toMatchObject({ remain: 0, held: 70, used: 30 })
  })

  test('a call over a limit is refused immediately and takes no quota; the ledger reports the usage in the current minute', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const { ledger } = ledgerOn(store)
    const limits: CallLimits = { token: { ...noLimits, rpm_limit: 1 }, user: undefined, minutes: undefined }
    const first = await ledger.tryHold(asking(account, 10, 10, { limits, tokens: 5 }))
    expect(limits.minutes).toMatchObject({ token: { calls: 1, tokens: 5 } })
    for (const take of [ledger.tryHold, ledger.hold]) {
      const refused = await take(asking(account, 10, 10, { limits })).catch((error: GatewayError) => error)
      expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' })
      expect((refused as GatewayError).retryAfterSeconds).toBeGreaterThan(0)
    }
    await first?.release()
    expect(await figuresOf(store, account)).toMatchObject({ remain: 100, quota: 1000, held: 0 })
  })

  test('a hold waits for budget that other calls may give back, and is refused when the budget is exhausted', async () => {
    await untilDayEndIsFar()
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 1000 })
    const { ledger } = ledgerOn(store)
    const limits: CallLimits = { token: undefined, user: { ...noLimits, daily_budget: 100 }, minutes: undefined }
    const first = await ledger.hold(asking(account, 80, 80, { limits }))
    expect(await first.extend(40, 1)).toBe(true)
    expect(first.amount).toBe(100)
    const second = ledger.hold(asking(account, 70, 10, { limits }))
    await first.settle(charging(account, 30))
    const held = await second
    expect(held.amount).toBe(70)
    await held.settle(charging(account, 70))
    expect(await codeOf(ledger.hold(asking(account, 10, 10, { limits })))).toBe('403 daily_budget_exceeded')
    const monthly = { ...limits, user: { ...noLimits, monthly_budget: 100 } }
    expect(await codeOf(ledger.hold(asking(account, 10, 10, { limits: monthly })))).toBe('403 monthly_budget_exceeded')
  })

  test('when no call can give back any more quota, a hold takes what is available', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const { ledger } = ledgerOn(store)
    const first = await ledger.hold(asking(account, 80))
    const second = ledger.hold(asking(account, 70, 10))
    await first.settle(charging(account, 60))
    expect((await second).amount).toBe(40)
  })

  test('each refusal has the error code of its cause', async () => {
    const store = await openFresh()
    const { ledger } = ledgerOn(store)
    const account = await addAccount(store, { user: 1000, token: 100 })
    expect(await codeOf(ledger.hold(asking(account, 500, 101)))).toBe('403 pre_consume_token_quota_failed')
    const empty = await addAccount(store, { user: 1000, token: 0 })
    expect(await codeOf(ledger.hold(asking(empty, 500, 1)))).toBe('401 token_exhausted')
    const poor = await addAccount(store, { user: 5 })
    expect(await codeOf(ledger.hold(asking(poor, 500, 6)))).toBe('403 insufficient_user_quota')
    const gone = { ...account, tokenId: 999_999 }
    expect(await codeOf(ledger.hold(asking(gone, 5, 1)))).toBe('401 invalid_token')
    expect(ledger.openHolds()).toBe(0)
  })

  test('a token whose quota is held by open calls, but not spent, is not reported as exhausted when the wait ends', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const { ledger } = ledgerOn(store, { waitMs: 1 })
    const all = await ledger.hold(asking(account, 100))
    expect(await codeOf(ledger.hold(asking(account, 50, 1)))).toBe('403 pre_consume_token_quota_failed')
    await all.release()
  })

  test('in a burst of calls that each hold the whole balance, as many succeed as the quota pays for', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 70 })
    const { ledger } = ledgerOn(store)
    // Each call asks for far more than is available, and uses 10.
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const outcome = ledger.hold(asking(account, 5000, 10))
        outcome.then((hold) => hold.settle(charging(account, 10))).catch(() => undefined)
        return codeOf(outcome)
      }),
    )
    expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(7)
    expect(new Set(outcomes)).toEqual(new Set(['taken', '401 token_exhausted']))
    while (ledger.openHolds() > 0) await new Promise((resolve) => setImmediate(resolve))
    expect(await figuresOf(store, account)).toMatchObject({ remain: 0, used: 70, requests: 7, held: 0 })
  })

  test('in a burst of calls on two independent nodes, as many succeed as the quota pays for', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 70 })
    const nodes = [ledgerOn(store).ledger, ledgerOn(store).ledger]
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async (_none, index) => {
        const outcome = (nodes[index % 2] as Ledger).hold(asking(account, 5000, 10))
        outcome.then((hold) => hold.settle(charging(account, 10))).catch(() => undefined)
        return codeOf(outcome)
      }),
    )
    expect(outcomes.filter((outcome) => outcome === 'taken')).toHaveLength(7)
    while (nodes.some((node) => node.openHolds() > 0)) await new Promise((resolve) => setImmediate(resolve))
    expect(await figuresOf(store, account)).toMatchObject({ remain: 0, used: 70, requests: 7, held: 0 })
  })

  test('a caller who disconnects while waiting does not block other calls', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const { ledger } = ledgerOn(store)
    const open = await ledger.hold(asking(account, 80))
    const controller = new AbortController()
    const left = codeOf(ledger.hold(asking(account, 100, 90, { signal: controller.signal })))
    const next = ledger.hold(asking(account, 30, 30))
    controller.abort()
    expect(await left).toBe('403 pre_consume_token_quota_failed')
    await open.settle(charging(account, 20))
    expect((await next).amount).toBe(30)
  })

  test('extensions increase the hold up to the balance', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const { ledger } = ledgerOn(store)
    const hold = await ledger.hold(asking(account, 60))
    expect(await hold.extend(30, 70)).toBe(true)
    expect(await hold.extend(30, 80)).toBe(true)
    expect(hold.amount).toBe(100)
    expect(await hold.extend(30, 90)).toBe(false)
    const row = await store.read.selectFrom('holds').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ amount: 100, crash_charge: 80 })
    expect(await hold.settle(charging(account, 95))).toBe(95)
    expect(await figuresOf(store, account)).toMatchObject({ remain: 5, used: 95 })
  })

  test('a hold cannot be closed twice', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const { ledger } = ledgerOn(store)
    const hold = await ledger.hold(asking(account, 60))
    await hold.settle(charging(account, 10))
    await expect(hold.release()).rejects.toThrow('closed twice')
    await expect(hold.settle(charging(account, 10))).rejects.toThrow('closed twice')
    expect(await figuresOf(store, account)).toMatchObject({ used: 10, requests: 1, logs: [10] })
  })

  test('a settle that fails in the database is retried until it succeeds, and the call is charged once', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const failing = faulty(store.ledger)
    const { ledger, retries, lost } = ledgerOn(store, { through: failing })
    const hold = await ledger.hold(asking(account, 60))
    // At the first attempt, the database is unreachable. At the second, it commits, but its response is lost.
    failing.faults.push('before', 'after')
    await hold.settle(charging(account, 10))
    expect(retries).toHaveLength(2)
    expect(lost).toEqual([])
    expect(await figuresOf(store, account)).toMatchObject({ remain: 90, used: 10, requests: 1, logs: [10], held: 0 })
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('a settle whose database response was lost returns the units that it charged', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const failing = faulty(store.ledger)
    const { ledger, lost } = ledgerOn(store, { through: failing })
    const hold = await ledger.hold(asking(account, 60))
    failing.faults.push('after')
    const now = Math.floor(Date.now() / 1000)
    const log = logRow(account, { request_id: requestId(Date.now()), created_at: now })
    expect(await hold.settle({ ...charging(account, 10), log })).toBe(10)
    expect(lost).toEqual([])
    expect(await figuresOf(store, account)).toMatchObject({ used: 10, logs: [10], held: 0 })
  })

  test('a settle with an unknown outcome is reported if another process closed its hold in the meantime', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const failing = faulty(store.ledger)
    const { ledger, lost } = ledgerOn(store, { through: failing })
    const id = requestId(Date.now())
    const hold = await ledger.hold(asking(account, 60, 60, { requestId: id }))
    await store.write((trx) => trx.deleteFrom('holds').where('id', '=', hold.id).execute())
    failing.faults.push('before')
    const log = logRow(account, { request_id: id, content: 'ratio: 1 × 1 × 1' })
    expect(await hold.settle({ ...charging(account, 10), log })).toBe(0)
    expect(lost).toEqual([[hold.id, 10]])
  })

  test('a charge whose log row the database rejects is reported', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const { ledger, refused } = ledgerOn(store)
    const hold = await ledger.hold(asking(account, 60))
    const log = logRow(account, { request_id: 'the request', created_at: Number.NaN })
    expect(await hold.settle({ ...charging(account, 10), log })).toBe(10)
    expect(refused).toEqual([['the request', 10]])
    expect(await figuresOf(store, account)).toMatchObject({ used: 10, unlogged: 10, logs: [] })
  })

  test('a hold whose commit is uncertain fails with an error and is given back', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const failing = faulty(store.ledger)
    const { ledger } = ledgerOn(store, { through: failing })
    failing.faults.push('after')
    expect(await codeOf(ledger.hold(asking(account, 60)))).toBe('503 database_unavailable')
    while ((await figuresOf(store, account)).held !== 0) await new Promise((resolve) => setImmediate(resolve))
    expect(await figuresOf(store, account)).toMatchObject({ remain: 100, quota: 1000, used: 0, requests: 0 })
  })

  test('a call whose hold was closed by another process is not charged again, and this is reported', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 100 })
    const { ledger, lost } = ledgerOn(store)
    const hold = await ledger.hold(asking(account, 60))
    await store.ledger.apply([
      {
        kind: 'settle',
        id: hold.id,
        ...account,
        charge: 1,
        mayGoNegative: false,
        requests: 1,
        log: logRow(account),
        at: 1,
      },
    ])
    await hold.settle(charging(account, 40))
    expect(lost).toEqual([[hold.id, 40]])
    expect(await figuresOf(store, account)).toMatchObject({ remain: 99, used: 1, logs: [1] })
  })
})

/**
 * The real ledger behind a connection that fails either before or after the commit. After the commit, only the response
 * is lost.
 */
function faulty(ledger: LedgerStore): LedgerStore & { faults: ('before' | 'after')[] } {
  const faults: ('before' | 'after')[] = []
  return {
    faults,
    async apply(ops) {
      const fault = faults.shift()
      if (fault === 'before') throw new Error('no connection')
      const results = await ledger.apply(ops)
      if (fault === 'after') throw new Error('connection lost')
      return results
    },
  }
}
