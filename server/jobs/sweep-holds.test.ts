import { expect, test } from 'bun:test'
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type Account, addAccount, extendOp, figuresOf, holdOp, logRow } from '../../test/helpers/accounts.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import { createBatcher } from '../billing/batcher.ts'
import { createLedger, type HoldRequest } from '../billing/ledger.ts'
import { createReturnQueue } from '../billing/return-queue.ts'
import { epochSeconds, systemClock } from '../lib/clock.ts'
import { machineName } from '../lib/machine.ts'
import { requestId } from '../lib/secrets/ids.ts'
import { balanceFaults } from '../store/ledger/balance-check.ts'
import { logsOfRequest } from '../store/logs/log-request.ts'
import type { LedgerStore } from '../store/schema/ledger-types.ts'
import type { Store } from '../store/store.ts'
import { nodeIdOf } from './node-process.ts'
import { heartbeat, sweepHolds, sweepOwnHolds, unregisterNode } from './sweep-holds.ts'

const noLimits = { rpm_limit: 0, tpm_limit: 0, concurrency_limit: 0, daily_budget: 0, monthly_budget: 0 }

forEachDatabase((name, openFresh) => {
  /** A node of this test. Its heartbeats count as regular, and `swept` contains the events that it reported. */
  function node(store: Store) {
    const swept: { holdId: string; charge: number }[] = []
    const nodeId = randomUUID()
    const events = {
      holdSwept: (event: { holdId: string; charge: number }) => void swept.push(event),
      warning: () => undefined,
    }
    return { store, clock: systemClock, nodeId, events: events as never, swept, pulse: { isSteady: true } }
  }

  /** Adds another node, whose last heartbeat is `silentSeconds` old by the database's clock. */
  async function addForeign(
    store: Store,
    silentSeconds: number,
    where = { host: 'another machine', pid: 1 },
    id: string = randomUUID(),
  ) {
    await heartbeat({ store, nodeId: id })
    await store.write((trx) =>
      trx
        .updateTable('nodes')
        .set((eb) => ({ ...where, heartbeat_at: eb('heartbeat_at', '-', silentSeconds) }))
        .where('id', '=', id)
        .execute(),
    )
    return id
  }

  const nodeIds = async (store: Store) =>
    (await store.read.selectFrom('nodes').select('id').execute()).map((row) => row.id)

  test('a call of a dead node is charged once for its known usage, and logged as interrupted', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const dead = await addForeign(store, 31)
    const hold = holdOp(account, 100, { nodeId: dead, crashCharge: 7, requestId: 'the request', modelName: 'gpt-4o' })
    await store.ledger.apply([hold])
    await store.ledger.apply([extendOp(hold, 50, { crashCharge: 60 })])
    const self = node(store)
    await heartbeat(self)
    expect(await sweepHolds(self)).toBe(1)
    expect(self.swept).toEqual([{ holdId: hold.id, charge: 60 }])
    expect(await figuresOf(store, account)).toMatchObject({ quota: 940, remain: 440, used: 60, held: 0, logs: [60] })
    const row = await store.read.selectFrom('logs').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      request_id: 'the request',
      model_name: 'gpt-4o',
      outcome: 'interrupted',
      token_name: 'test',
    })
    expect(Boolean(row.estimated)).toBe(true)
    expect(await nodeIds(store)).toEqual([self.nodeId])
    expect(await sweepHolds(self)).toBe(0)
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('the log row of a killed call contains its channel and the tokens that are charged', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const fields = { nodeId: 'long gone', crashCharge: 11 }
    const crashRow = { channelId: account.channelId, promptTokens: 10, completionTokens: 1 }
    const begun = holdOp(account, 60, { ...fields, crashRow, requestId: 'begun' })
    const grown = holdOp(account, 60, { ...fields, crashRow, requestId: 'grown' })
    const moved = holdOp(account, 60, { ...fields, crashRow, requestId: 'moved' })
    const counted = holdOp(account, 60, {
      ...fields,
      crashRow,
      requestId: 'counted',
      limits: { token: { ...noLimits, rpm_limit: 100 }, at: 1_700_000_000, tokens: 10 },
    })
    await store.ledger.apply([begun, grown, moved, counted])
    const later = { channelId: account.channelId, promptTokens: 12, completionTokens: 30 }
    await store.ledger.apply([
      extendOp(grown, 20, { crashCharge: 42, crashRow: later }),
      extendOp(moved, 0, { minimum: 0, crashCharge: 11, crashRow: { ...crashRow, channelId: 77 } }),
    ])
    expect(await sweepHolds(node(store))).toBe(4)
    const rows = await store.read
      .selectFrom('logs')
      .select(['request_id', 'channel_id', 'prompt_tokens', 'completion_tokens', 'quota'])
      .orderBy('request_id')
      .execute()
    const row = (request_id: string, channel_id: number, tokens: readonly [number, number], quota: number) => {
      const [prompt_tokens, completion_tokens] = tokens
      return { request_id, channel_id, prompt_tokens, completion_tokens, quota }
    }
    expect(rows).toEqual([
      row('begun', account.channelId, [10, 1], 11),
      row('counted', account.channelId, [10, 1], 11),
      row('grown', account.channelId, [12, 30], 42),
      row('moved', 77, [10, 1], 11),
    ])
    const channel = await store.read
      .selectFrom('channels')
      .select('used_quota')
      .where('id', '=', account.channelId)
      .executeTakeFirstOrThrow()
    expect(Number(channel.used_quota)).toBe(64)
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('the charge never exceeds the amount that was held', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    await store.ledger.apply([holdOp(account, 10, { nodeId: 'long gone', crashCharge: 70 })])
    await sweepHolds(node(store))
    expect(await figuresOf(store, account)).toMatchObject({ used: 10, quota: 990, held: 0 })
  })

  test('holds of a node with a recent heartbeat are not closed, no matter on which host it runs and which process id it has', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const alive = await addForeign(store, 20)
    // Another container may have the same host name and process id, but it has a different process table.
    const namesake = await addForeign(store, 0, { host: 'another container', pid: process.pid })
    await store.ledger.apply([holdOp(account, 10, { nodeId: alive }), holdOp(account, 10, { nodeId: namesake })])
    expect(await sweepHolds(node(store))).toBe(0)
    expect(await figuresOf(store, account)).toMatchObject({ held: 20 })
  })

  test('the holds of a process that has ended on this machine are closed immediately', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const { pid } = spawnSync('true')
    const gone = await addForeign(store, 0, { host: machineName(), pid })
    const before = await addForeign(store, 0, { host: machineName(), pid: process.pid })
    await store.ledger.apply([holdOp(account, 10, { nodeId: gone }), holdOp(account, 10, { nodeId: before })])
    expect(await sweepHolds(node(store))).toBe(2)
    expect(await nodeIds(store)).toEqual([])
  })

  test.skipIf(!existsSync('/proc/self/stat'))(
    'the holds of a live process on this machine are not closed, no matter how old its last heartbeat is (Linux)',
    async () => {
      const store = await openFresh()
      const account = await addAccount(store, { user: 1000, token: 500 })
      const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] })
      const at = { host: machineName(), pid: child.pid ?? 0 }
      const silent = await addForeign(store, 3600, at, nodeIdOf(at.pid))
      const earlier = await addForeign(store, 0, at, `${randomUUID()}@1`)
      await store.ledger.apply([holdOp(account, 10, { nodeId: silent }), holdOp(account, 20, { nodeId: earlier })])
      const self = node(store)
      await heartbeat(self)
      // The other row belongs to an ended process whose process id was later reused for this process.
      expect(await sweepHolds(self)).toBe(1)
      expect(await figuresOf(store, account)).toMatchObject({ held: 10 })
      expect(await nodeIds(store)).toContain(silent)
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('exit', resolve))
      expect(await sweepHolds(self)).toBe(1)
      expect(await nodeIds(store)).toEqual([self.nodeId])
    },
  )

  test('silent nodes are not considered dead if the database itself may have been unreachable', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const silent = await addForeign(store, 40)
    await store.ledger.apply([holdOp(account, 10, { nodeId: silent })])
    const self = node(store)
    await heartbeat(self)
    const unsure = { ...self, pulse: { isSteady: false } }
    // Only one process can use SQLite, so any other listed node is an earlier process.
    expect(await sweepHolds(unsure)).toBe(name === 'sqlite' ? 1 : 0)
    expect(await nodeIds(store)).toHaveLength(name === 'sqlite' ? 1 : 2)
    // Simulates a paused machine whose clock did not notice the pause. By the database's clock, this process itself was
    // silent.
    await store.write((trx) =>
      trx
        .updateTable('nodes')
        .set((eb) => ({ heartbeat_at: eb('heartbeat_at', '-', 40) }))
        .where('id', '=', self.nodeId)
        .execute(),
    )
    expect(await sweepHolds(self)).toBe(0)
    await heartbeat(self)
    expect(await sweepHolds(self)).toBe(name === 'sqlite' ? 0 : 1)
    expect(await nodeIds(store)).toEqual([self.nodeId])
  })

  test('a node whose heartbeats resume while its holds are being closed keeps its new holds, and stays listed', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const back = await addForeign(store, 40)
    await store.ledger.apply([holdOp(account, 10, { nodeId: back })])
    const self = node(store)
    await heartbeat(self)
    const apply: LedgerStore['apply'] = async (ops) => {
      const results = await store.ledger.apply(ops)
      await heartbeat({ store, nodeId: back })
      await store.ledger.apply([holdOp(account, 20, { nodeId: back })])
      return results
    }
    expect(await sweepHolds({ ...self, store: { ...store, ledger: { apply } } })).toBe(1)
    expect(await figuresOf(store, account)).toMatchObject({ held: 20 })
    expect((await nodeIds(store)).toSorted()).toEqual([back, self.nodeId].toSorted())
  })

  test('holds of a node that is not listed are closed, except new holds, because the node may be about to send its first heartbeat', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const createdAt = epochSeconds(systemClock)
    await store.ledger.apply([
      holdOp(account, 10, { nodeId: 'unknown' }),
      holdOp(account, 20, { nodeId: 'unknown', createdAt }),
    ])
    expect(await sweepHolds(node(store))).toBe(1)
    expect(await figuresOf(store, account)).toMatchObject({ held: 20 })
  })

  test('a node that was considered dead is listed again with its next heartbeat', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const paused = node(store)
    await heartbeat(paused)
    await unregisterNode(paused)
    await store.ledger.apply([holdOp(account, 10, { nodeId: paused.nodeId })])
    // A node never closes its own holds in `sweepHolds`.
    expect(await sweepHolds(paused)).toBe(0)
    await heartbeat(paused)
    await store.write((trx) => trx.updateTable('nodes').set({ host: 'another machine' }).execute())
    expect(await sweepHolds(node(store))).toBe(0)
    expect(await figuresOf(store, account)).toMatchObject({ held: 10 })
  })

  /**
   * The ledger of a node. After `nextIsLate`, the next statement times out, and the test executes it later with `late`.
   */
  function ledgerOf(store: Store, nodeId: string) {
    const late: (() => Promise<unknown>)[] = []
    const failures: Error[] = []
    const lost: string[] = []
    let isNextLate = false
    const apply: LedgerStore['apply'] = async (ops) => {
      const failure = failures.shift()
      if (failure) throw failure
      if (!isNextLate) return store.ledger.apply(ops)
      isNextLate = false
      late.push(() => store.ledger.apply(ops))
      throw new Error('timed out waiting for a lock')
    }
    const ledger = createLedger({
      batcher: createBatcher({ apply }),
      returns: createReturnQueue(() => performance.now()),
      clock: systemClock,
      nodeId,
      holdWaitMs: () => 5000,
      onSettleRetry: () => undefined,
      onHoldLost: (id) => lost.push(id),
      onRowRefused: () => undefined,
      rowsOf: (requestId) => logsOfRequest(store.read, requestId),
    })
    const nextIsLate = () => {
      isNextLate = true
    }
    return { ledger, nextIsLate, late, failures, lost }
  }
  const asking = ({ userId, tokenId }: Account, amount: number): HoldRequest => {
    return { userId, tokenId, amount, least: amount, crashCharge: 7, modelName: 'gpt-4o', requestId: 'the request' }
  }

  test('a hold that the database executes after its call was refused is given back in full, and holds of open calls stay open', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const self = node(store)
    const { ledger, nextIsLate, late } = ledgerOf(store, self.nodeId)
    const open = await ledger.hold(asking(account, 10))
    nextIsLate()
    await expect(ledger.hold(asking(account, 100))).rejects.toMatchObject({ code: 'database_unavailable' })
    expect(await sweepOwnHolds(self, ledger)).toBe(0)
    await late[0]?.()
    expect(await figuresOf(store, account)).toMatchObject({ quota: 890, held: 110 })
    // Sweeping dead nodes does not close this hold, because its process is alive.
    await heartbeat(self)
    expect(await sweepHolds(self)).toBe(0)
    expect(await sweepOwnHolds(self, ledger)).toBe(1)
    expect(await figuresOf(store, account)).toMatchObject({ quota: 990, remain: 490, held: 10, requests: 0, logs: [] })
    await open.settle({ charge: 4, channelId: account.channelId, log: logRow(account), mayGoNegative: false })
    expect(await sweepOwnHolds(self, ledger)).toBe(0)
    expect(await figuresOf(store, account)).toMatchObject({ quota: 996, used: 4, held: 0, requests: 1, logs: [4] })
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('a charge whose log row the database rejects is written without the row', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const self = node(store)
    const { ledger } = ledgerOf(store, self.nodeId)
    const hold = await ledger.hold(asking(account, 10))
    const log = logRow(account, { created_at: Number.NaN })
    expect(await hold.settle({ charge: 4, channelId: 0, log, mayGoNegative: false })).toBe(4)
    expect(await figuresOf(store, account)).toMatchObject({ used: 4, unlogged: 4, held: 0, logs: [] })
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('a call whose charge the database rejects is closed as if the process had died', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const self = node(store)
    const { ledger } = ledgerOf(store, self.nodeId)
    const hold = await ledger.hold(asking(account, 10))
    const refused = { charge: Number.NaN, channelId: 0, log: logRow(account), mayGoNegative: false }
    expect(await hold.settle(refused)).toBe(0)
    expect(ledger.openHolds()).toBe(0)
    expect(await figuresOf(store, account)).toMatchObject({ held: 10 })
    expect(await sweepOwnHolds(self, ledger)).toBe(1)
    expect(await figuresOf(store, account)).toMatchObject({ used: 7, held: 0, requests: 1, logs: [7] })
    const row = await store.read.selectFrom('logs').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ request_id: 'the request', outcome: 'interrupted' })
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('if a hold is closed before its charge is written, the charge is reported as lost, no matter how the first attempt failed', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const { ledger, failures, lost } = ledgerOf(store, 'taken for dead')
    const id = requestId(Date.now())
    const log = logRow(account, { request_id: id, content: 'ratio: 1 × 1 × 1' })
    const charge = { charge: 4, channelId: 0, log, mayGoNegative: false }
    const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' })
    const rolledBack = () => Object.assign(new Error('canceled'), { code: '57014', severity: 'ERROR' })
    for (const failure of [refused(), rolledBack(), new Error('Connection terminated unexpectedly')]) {
      const hold = await ledger.hold({ ...asking(account, 10), requestId: id })
      // Makes the hold old. Its node is not listed, so a sweep would not close it if it were new.
      await store.write((trx) => trx.updateTable('holds').set({ created_at: 1 }).execute())
      expect(await sweepHolds(node(store))).toBe(1)
      failures.push(failure)
      expect(await hold.settle(charge)).toBe(0)
      expect(lost.splice(0)).toEqual([hold.id])
    }
    expect(await figuresOf(store, account)).toMatchObject({ used: 21, held: 0 })
  })

  test('several nodes can sweep at the same time, and each call is closed by one of them', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 100_000, token: 100_000 })
    const holds = Array.from({ length: 1100 }, () => holdOp(account, 10, { nodeId: 'dead', crashCharge: 3 }))
    await store.ledger.apply(holds)
    const sweepers = [node(store), node(store), node(store)]
    await Promise.all(sweepers.map((self) => heartbeat(self)))
    // All three nodes belong to the process of this test. If they had its host name, each would consider the others
    // dead, because they have its own process id.
    await store.write((trx) => trx.updateTable('nodes').set({ host: 'another machine' }).execute())
    await Promise.all(sweepers.map((self) => sweepHolds(self)))
    const swept = sweepers.flatMap((self) => self.swept.map((event) => event.holdId))
    expect(swept.toSorted()).toEqual(holds.map((hold) => hold.id).toSorted())
    expect(await figuresOf(store, account)).toMatchObject({ used: 3300, quota: 96_700, requests: 1100, held: 0 })
    expect((await balanceFaults(store)).faults).toEqual([])
  })

  test('holds of deleted accounts do not prevent the closing of other holds', async () => {
    const store = await openFresh()
    const account = await addAccount(store, { user: 1000, token: 500 })
    const other = await addAccount(store, { user: 1000, token: 500 })
    await store.ledger.apply([
      holdOp(account, 10, { nodeId: 'dead' }),
      holdOp(other, 10, { nodeId: 'dead', crashCharge: 4 }),
    ])
    await store.write(async (trx) => {
      await trx.deleteFrom('tokens').where('id', '=', account.tokenId).execute()
      await trx.deleteFrom('users').where('id', '=', account.userId).execute()
    })
    expect(await sweepHolds(node(store))).toBe(2)
    expect(await figuresOf(store, other)).toMatchObject({ used: 4, held: 0 })
  })
})
