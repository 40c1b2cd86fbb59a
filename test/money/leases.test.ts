import { afterAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { sweepHolds } from '../../server/jobs/sweep-holds.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { addTokenQuota, deleteToken, setTokenQuota, updateToken } from '../../server/store/accounts/tokens.ts'
import { addUserQuota, giveUserQuota, setUserQuota } from '../../server/store/accounts/user-changes.ts'
import { balanceFaults } from '../../server/store/ledger/balance-check.ts'
import { saveCaps } from '../../server/store/ledger/caps.ts'
import type { HoldOp, SettleOp } from '../../server/store/schema/ledger-types.ts'
import { type Account, addAccount, figuresOf, logRow } from '../helpers/accounts.ts'
import { asking, charging, type LeaseNode, list, startLeaseNode, untilLeased } from '../helpers/lease-nodes.ts'
import { postgresMissing } from '../helpers/postgres.ts'
import { newMigratedPostgresDatabase } from '../helpers/templates.ts'

if (postgresMissing !== undefined) test.skip(`leases (${postgresMissing})`, () => undefined)
else describe('leases', suite)

function suite(): void {
  const opened: LeaseNode[] = []
  let database: Awaited<ReturnType<typeof newMigratedPostgresDatabase>> | undefined
  afterAll(async () => {
    await Promise.all(opened.map((each) => each.close()))
    await database?.drop()
  })
  const start = async (share = 10): Promise<LeaseNode> => {
    database ??= await newMigratedPostgresDatabase()
    const node = await startLeaseNode(database.url, share)
    opened.push(node)
    return node
  }
  const leasesOf = async ({ store }: LeaseNode, { userId }: Account) => {
    const rows = await store.read.selectFrom('leases').selectAll().where('user_id', '=', userId).execute()
    return rows.map(({ amount, node_id, token_limited }) => ({ amount: Number(amount), node_id, token_limited }))
  }
  const faultsOf = async ({ store }: LeaseNode) => (await balanceFaults(store)).faults
  /** Closes the holds and returns the leases of all nodes, as another node does after their processes have ended. */
  const sweep = async ({ store }: LeaseNode) => {
    for (const { nodeId } of opened) await list(store, nodeId)
    return sweepHolds({
      ...{ store, clock: systemClock, nodeId: randomUUID(), pulse: { isSteady: true } },
      events: { holdSwept: () => undefined, warning: () => undefined } as never,
    })
  }
  const settled = async (node: LeaseNode, account: Account, amount: number, charge: number) => {
    const request = asking(account, amount)
    const hold = await node.ledger.hold(request)
    return hold.settle(charging(account, charge, request))
  }
  const rowsOf = async ({ store }: LeaseNode, { userId }: Account) => {
    const rows = await store.read
      .selectFrom('logs')
      .select(['quota', 'outcome'])
      .where('user_id', '=', userId)
      .execute()
    return rows.map(({ quota, outcome }) => `${quota} ${outcome}`).sort()
  }

  test('a lease is a share of the remaining balance, and a call that ends immediately is charged to it', async () => {
    const node = await start()
    const account = await addAccount(node.store, { user: 100_000, token: 50_000 })
    await untilLeased(node, account, 10)
    const [lease] = await leasesOf(node, account)
    const size = lease?.amount ?? 0
    expect(size).toBeWithin(4_900, 5_001)
    expect(lease).toEqual({ amount: size, node_id: node.nodeId, token_limited: true })
    const holds = node.ledger.openHolds()
    const hold = await node.ledger.hold(asking(account, 10))
    expect(node.ledger.openHolds()).toBe(holds + 1)
    expect(await hold.settle(charging(account, 7))).toBe(7)
    expect(await leasesOf(node, account)).toMatchObject([{ amount: size - 7 }])
    expect(await figuresOf(node.store, account)).toMatchObject({
      ...{ used: 7, tokenUsed: 7, channelUsed: 7, held: 0, logs: [7] },
    })
    expect(await faultsOf(node)).toEqual([])
    const released = await node.ledger.hold(asking(account, 10))
    await released.release()
    const open = await node.ledger.hold(asking(account, 10))
    await open.stored()
    expect(await figuresOf(node.store, account)).toMatchObject({ held: 10 })
    expect(await faultsOf(node)).toEqual([])
    await node.leases.callBack(account.userId)
    expect(await leasesOf(node, account)).toEqual([])
    expect(await figuresOf(node.store, account)).toMatchObject({ quota: 99_983, remain: 49_983 })
    expect(await open.settle(charging(account, 4))).toBe(4)
    expect(await figuresOf(node.store, account)).toMatchObject({ quota: 99_989, remain: 49_989, logs: [7, 4] })
    expect(await faultsOf(node)).toEqual([])
  })

  test('there is no lease for calls with limits and for accounts whose balance is nearly used up', async () => {
    const node = await start()
    const account = await addAccount(node.store, { user: 100_000 })
    await untilLeased(node, account, 10)
    const [before] = await leasesOf(node, account)
    const limits = { token: { rpm_limit: 100, tpm_limit: 0, concurrency_limit: 0, daily_budget: 0, monthly_budget: 0 } }
    const hold = await node.ledger.hold(
      asking(account, 10, { limits: { user: undefined, minutes: undefined, ...limits } }),
    )
    expect(await leasesOf(node, account)).toEqual(before ? [before] : [])
    expect(await figuresOf(node.store, account)).toMatchObject({ held: 10 })
    await hold.release()
    const poor = await addAccount(node.store, { user: 700 })
    for (let call = 0; call < 10; call++) expect(await settled(node, poor, 10, 1)).toBe(1)
    expect(await leasesOf(node, poor)).toEqual([])
    expect(await faultsOf(node)).toEqual([])
  })

  test('of 1,000 simultaneous calls on two nodes with leases, as many are served as the balance pays for', async () => {
    const nodes = [await start(50), await start(50)] as const
    for (const token of [undefined, 3_000]) {
      const account = await addAccount(nodes[0].store, {
        user: token === undefined ? 3_000 : 100_000,
        ...(token && { token }),
      })
      await Promise.all(nodes.map((node) => untilLeased(node, account, 10)))
      expect(await leasesOf(nodes[0], account)).toHaveLength(2)
      const results = await Promise.allSettled(
        Array.from({ length: 1_000 }, (_none, index) => settled(nodes[index % 2] as LeaseNode, account, 10, 10)),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(300)
      const figures = await figuresOf(nodes[0].store, account)
      expect([token === undefined ? figures.quota : figures.remain, figures.used]).toEqual([0, 3_000])
      expect(await leasesOf(nodes[0], account)).toEqual([])
      expect(await faultsOf(nodes[0])).toEqual([])
    }
  }, 60_000)

  test('even the last unit in another node’s lease can pay for a hold, for a stream that grows, and for a charge above the hold', async () => {
    const [rich, poor] = [await start(50), await start(50)]
    for (const grow of ['hold', 'extend', 'settle'] as const) {
      const account = await addAccount(rich.store, { user: 1_000, token: 5_000 })
      await untilLeased(rich, account, 10)
      const [lease] = await leasesOf(rich, account)
      const left = 1_000 - (lease?.amount ?? 0)
      expect(left).toBeLessThan(600)
      const request = asking(account, grow === 'hold' ? 1_000 : left)
      const hold = await poor.ledger.hold(request)
      if (grow === 'extend') expect(await hold.extend(1_000 - left, 1)).toBe(true)
      if (grow !== 'settle') expect(hold.amount).toBe(1_000)
      expect(await hold.settle(charging(account, 1_000, request))).toBe(1_000)
      expect(await figuresOf(rich.store, account)).toMatchObject({ quota: 0, used: 1_000 })
    }
    expect(await faultsOf(rich)).toEqual([])
  })

  test('when a node that has leases crashes, nothing is lost and nothing is spent twice', async () => {
    const [doomed, other] = [await start(), await start()]
    const account = await addAccount(other.store, { user: 100_000, token: 50_000 })
    await untilLeased(doomed, account, 10)
    expect(await settled(doomed, account, 10, 7)).toBe(7)
    const stored = await doomed.ledger.hold(asking(account, 10, { crashCharge: 3 }))
    await stored.stored()
    // Neither of these two calls has a row in the database yet. The first is never charged. The second ends, but the
    // node crashes before its end is written.
    await doomed.ledger.hold(asking(account, 10, { crashCharge: 3 }))
    const ending = await doomed.ledger.hold(asking(account, 10, { crashCharge: 3 }))
    doomed.crash()
    void ending.settle(charging(account, 5))
    expect(await leasesOf(other, account)).toHaveLength(1)
    expect(await sweep(other)).toBe(1)
    expect(await leasesOf(other, account)).toEqual([])
    expect(await figuresOf(other.store, account)).toMatchObject({ quota: 99_990, remain: 49_990, used: 10, held: 0 })
    expect(await rowsOf(other, account)).toEqual(['3 interrupted', '7 complete'])
    expect(await faultsOf(other)).toEqual([])
  })

  test('a charge is made once, whatever happens to the connection', async () => {
    const node = await start()
    const account = await addAccount(node.store, { user: 100_000, token: 50_000 })
    let charged = 0
    for (const trouble of ['unsent', 'lost', 'late'] as const) {
      for (const wait of [false, true]) {
        await untilLeased(node, account, 10)
        const request = asking(account, 10)
        const hold = await node.ledger.hold(request)
        let times = 0
        node.trouble = (statement) => (statement.startsWith('ledger') && times++ === 0 ? trouble : undefined)
        // The first statement fails. If the test waits here until the hold is written, this is the statement that
        // writes the hold. Otherwise, it is the statement at the end of the call.
        if (wait) await hold.stored()
        expect(await hold.settle(charging(account, 7, request))).toBe(7)
        charged += 7
        expect(times).toBeGreaterThan(0)
        node.trouble = () => undefined
        expect(await figuresOf(node.store, account)).toMatchObject({ used: charged, held: 0 })
        expect(await faultsOf(node)).toEqual([])
      }
    }
    expect(await rowsOf(node, account)).toEqual(Array(6).fill('7 complete'))
    expect(node.lost).toEqual([])
  })

  test('a batch whose response was lost takes effect once, even if batches fail while it is retried', async () => {
    const node = await start()
    const account = await addAccount(node.store, { user: 100_000, token: 50_000 })
    await untilLeased(node, account, 10)
    const { userId, tokenId } = account
    const leases = node.store.read.selectFrom('leases').select('id').where('token_id', '=', tokenId)
    const lease = (await leases.executeTakeFirstOrThrow()).id
    const common = { userId, tokenId, lease }
    const taking = (): HoldOp => ({
      ...{ ...common, kind: 'hold', id: randomUUID(), amount: 10, minimum: 10, crashCharge: 1, nodeId: node.nodeId },
      ...{ createdAt: 0, modelName: 'gpt-4o', requestId: randomUUID() },
    })
    const ending = (): SettleOp => {
      const id = randomUUID()
      return {
        ...{ ...common, kind: 'settle', id, held: 10, requests: 1, at: 0 },
        ...charging(account, 7, { requestId: id }),
      }
    }
    const [taken, ended] = [taking(), ending()]
    const failing = (trouble: 'lost' | 'unsent') => {
      let times = 0
      node.trouble = (statement) => (statement.startsWith('ledger') && times++ === 0 ? trouble : undefined)
    }
    failing('lost')
    await expect(node.apply([taken, ended])).rejects.toThrow()
    const batch = [taken, ended, ending()]
    for (let attempt = 0; attempt < 2; attempt++) {
      failing('unsent')
      await expect(node.apply(batch)).rejects.toThrow()
    }
    // A row that the database rejects makes the batch fail, and then its operations are applied one by one.
    const rejected = { ...ending(), log: logRow(account, { prompt_tokens: 1e30 }) }
    await expect(node.apply([...batch, rejected])).rejects.toThrow()
    for (const op of batch) await node.apply([op])
    expect(await figuresOf(node.store, account)).toMatchObject({ used: 14, held: 10, logs: [7, 7] })
    expect(await faultsOf(node)).toEqual([])
    await node.apply([{ ...ended, id: taken.id, charge: 0, log: undefined, lease: undefined }])
  })

  test('if an admin reduces a balance, the leased part is not reduced', async () => {
    const node = await start(50)
    const account = await addAccount(node.store, { user: 100_000, token: 100_000 })
    const { userId, tokenId } = account
    await untilLeased(node, account, 10)
    const leased = (await leasesOf(node, account))[0]?.amount ?? 0
    expect(leased).toBeGreaterThan(10_000)
    for (const give of [5, -5, -90_000]) {
      await node.store.write(async (trx) => {
        await addUserQuota(trx, userId, give)
        await addTokenQuota(trx, tokenId, give)
      })
    }
    const calls = Array.from({ length: 6 }, () =>
      settled(node, account, Math.floor(leased / 6), Math.floor(leased / 6)),
    )
    await Promise.all(calls)
    await node.leases.callBack(userId)
    const { quota, remain, used = 0 } = await figuresOf(node.store, account)
    expect(used).toBe(6 * Math.floor(leased / 6))
    expect([quota, remain].map(Number)).toEqual([leased - used, leased - used])
    expect(await faultsOf(node)).toEqual([])
  })

  test('the leased part is included when a balance is compared with the maximum, and in the balance that remains after a change', async () => {
    const node = await start(50)
    const account = await addAccount(node.store, { user: 100_000, token: 100_000 })
    const { userId, tokenId } = account
    await untilLeased(node, account, 10)
    const leased = (await leasesOf(node, account))[0]?.amount ?? 0
    expect(leased).toBeGreaterThan(10_000)
    await node.store.write(async (trx) => {
      expect(await giveUserQuota(trx, userId, 101, 100_100)).toBe(false)
      expect(await giveUserQuota(trx, userId, 100, 100_100)).toBe(true)
      expect(await addUserQuota(trx, userId, 5)).toBe(100_105)
      expect(await addTokenQuota(trx, tokenId, 5)).toBe(100_005)
      expect(await setUserQuota(trx, userId, 99_000)).toBe(99_000)
      expect(await setTokenQuota(trx, tokenId, 99_000)).toBe(99_000)
      // No change reduces the balance below the leased part.
      expect([await setUserQuota(trx, userId, 10), await setTokenQuota(trx, tokenId, 10)]).toEqual([leased, leased])
      expect([await addUserQuota(trx, userId, -10), await addTokenQuota(trx, tokenId, -10)]).toEqual([leased, leased])
    })
    await node.leases.callBack(userId)
    expect(await figuresOf(node.store, account)).toMatchObject({ quota: leased, remain: leased })
    expect(await faultsOf(node)).toEqual([])
  })

  test('a call that is paid from a lease counts towards a limit that its channel gets during the call; a charge that may overdraw the balance may be higher than its hold', async () => {
    const node = await start()
    const account = await addAccount(node.store, { user: 100_000, token: 50_000 })
    await untilLeased(node, account, 10)
    const hold = await node.ledger.hold(asking(account, 10))
    const none = { models: '', zone: 'UTC', raise_by: 0, raise_until: 0 }
    const cap = { owner: 'channel' as const, metric: 'quota' as const, period: 'ever' as const, most: 1_000, ...none }
    await node.store.write((trx) => saveCaps(trx, account.channelId, [cap], Math.floor(Date.now() / 1000)))
    expect(await hold.settle(charging(account, 7))).toBe(7)
    expect(await node.store.read.selectFrom('cap_counts').select('used').execute()).toEqual([{ used: 7 }])
    const above = await node.ledger.hold(asking(account, 10))
    expect(await above.settle(charging(account, 15, { mayGoNegative: true }))).toBe(15)
    expect(await figuresOf(node.store, account)).toMatchObject({ used: 22, tokenUsed: 22, channelUsed: 22 })
    expect(await faultsOf(node)).toEqual([])
    node.leases.setShare(0)
    while ((await leasesOf(node, account)).length > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(await figuresOf(node.store, account)).toMatchObject({ quota: 99_978, remain: 49_978 })
    expect(await faultsOf(node)).toEqual([])
  })

  test('the calls of a node that was considered dead are charged from the balance', async () => {
    const node = await start()
    const account = await addAccount(node.store, { user: 100_000, token: 50_000 })
    for (const isStored of [false, true]) {
      await untilLeased(node, account, 10)
      await sweep(node)
      const request = asking(account, 10)
      const hold = await node.ledger.hold(request)
      if (isStored) await hold.stored()
      expect(await hold.settle(charging(account, 7, request))).toBe(7)
    }
    expect(await figuresOf(node.store, account)).toMatchObject({ used: 14, held: 0 })
    expect(await rowsOf(node, account)).toEqual(['7 complete', '7 complete'])
    expect(node.lost).toEqual([])
    expect(await faultsOf(node)).toEqual([])
  })

  // A failure prints the seed; LEASE_SEED repeats it.
  const seed = Number(process.env['LEASE_SEED'] ?? Date.now() % 1_000_000)
  test(`the ledger is exact after random calls, gifts, deletions, changes, lost connections and crashes (seed ${seed})`, async () => {
    const random = randomFrom(seed)
    const below = (most: number) => Math.floor(random() * most)
    const nodes = [await start(20), await start(20)]
    const shaken = (node: LeaseNode) => {
      node.trouble = (statement) =>
        random() < 0.04 && statement !== '' ? (['unsent', 'lost', 'late'] as const)[below(3)] : undefined
      return node
    }
    const watcher = await start(0)
    const { store } = watcher
    const accounts = [
      await addAccount(store, { user: 20_000 }),
      await addAccount(store, { user: 40_000, token: 9_000 }),
      await addAccount(store, { user: 1_500, token: 100_000 }),
    ]
    const seen: { id: string; charged: number }[] = []
    const call = async (node: LeaseNode, account: Account) => {
      const amount = 1 + below(30)
      const request = asking(account, amount, { crashCharge: below(amount) })
      const hold = await node.ledger.hold(request).catch(() => undefined)
      if (!hold) return
      const ending = below(10)
      if (ending < 2) await new Promise((resolve) => setTimeout(resolve, below(30)))
      if (ending === 2) await hold.extend(below(20), 1).catch(() => false)
      if (ending === 3) return hold.release()
      const charge = below(Math.ceil(hold.amount * 1.3))
      const charged = await hold.settle(charging(account, charge, request))
      seen.push({ id: request.requestId, charged })
      return undefined
    }
    const change = async () => {
      const { userId, tokenId } = accounts[below(accounts.length)] as Account
      await store.write(async (trx) => {
        switch (below(4)) {
          case 0:
            return addUserQuota(trx, userId, below(2_000))
          case 1:
            return setUserQuota(trx, userId, 2_000 + below(20_000))
          case 2:
            return setTokenQuota(trx, tokenId, 2_000 + below(20_000))
          default:
            return updateToken(trx, tokenId, { unlimited_quota: below(2) === 0 })
        }
      })
      await store.notices.publish(below(2) === 0 ? { topic: 'token', id: tokenId } : { topic: 'user', id: userId })
    }
    nodes.forEach(shaken)
    const calls: Promise<unknown>[] = []
    for (let step = 0; step < 60; step++) {
      const at = below(2)
      const node = nodes[at] as LeaseNode
      const account = accounts[below(accounts.length)] as Account
      const some = Array.from({ length: 1 + below(20) }, () => call(node, account))
      calls.push(...some)
      if (step % 4 === 0) await change()
      if (step % 7 === 0) await Promise.race([Promise.all(some), new Promise((resolve) => setTimeout(resolve, 40))])
      if (step % 10 === 5) expect(await faultsOf(watcher)).toEqual([])
      if (step === 20) await store.write((trx) => deleteToken(trx, accounts[2]?.userId ?? 0, accounts[2]?.tokenId ?? 0))
      if (step === 30 || step === 45) {
        // The calls of a crashed node never end, so nobody waits for them.
        node.crash()
        nodes[at] = shaken(await start(20))
        await sweep(watcher)
        calls.length = 0
      }
    }
    for (const node of nodes) node.trouble = () => undefined
    await Promise.race([Promise.all(calls), new Promise((resolve) => setTimeout(resolve, 20_000))])
    for (const node of nodes) await node.leases.close()
    for (const node of opened) await node.late()
    await sweep(watcher)
    expect(await faultsOf(watcher)).toEqual([])
    expect(await store.read.selectFrom('leases').selectAll().execute()).toEqual([])
    const rows = await store.read.selectFrom('logs').select(['request_id', 'quota']).execute()
    const ofRequest = new Map<string, number[]>()
    for (const { request_id, quota } of rows) ofRequest.set(request_id, [...(ofRequest.get(request_id) ?? []), quota])
    // Every call that was answered has one row, which agrees with what its caller was told. No call has two rows.
    expect([...ofRequest].filter(([id, { length }]) => id !== '' && length !== 1)).toEqual([])
    expect(seen.filter(({ id, charged }) => charged > 0 && ofRequest.get(id)?.[0] !== charged)).toEqual([])
    expect(seen.length).toBeGreaterThan(100)
  }, 90_000)
}

/** Numbers that look random and depend on the seed only. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
