import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { createBatcher } from '../../server/billing/batcher.ts'
import { createLeases, type Leases } from '../../server/billing/leases.ts'
import { createLedger, type HoldRequest, type Ledger, type Settlement } from '../../server/billing/ledger.ts'
import { createReturnQueue } from '../../server/billing/return-queue.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { machineName } from '../../server/lib/machine.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { beat } from '../../server/store/installation/nodes.ts'
import { ledgerSettings, postgresLedger } from '../../server/store/ledger/ledger-postgres.ts'
import { logsOfRequest } from '../../server/store/logs/log-request.ts'
import type { LedgerStore } from '../../server/store/schema/ledger-types.ts'
import type { Store } from '../../server/store/store.ts'
import { type Account, logRow } from './accounts.ts'

/** How a node's connection to the database fails. */
export type Trouble =
  /** The statement is not sent. */
  | 'unsent'
  /** The statement takes effect, but its response is lost. */
  | 'lost'
  /** The statement returns an error, but takes effect later. */
  | 'late'

/** A node with leases. It consists of a gateway's ledger only, and its database connections can fail. */
export interface LeaseNode {
  nodeId: string
  store: Store
  ledger: Ledger
  /** Applies a batch directly, without the ledger's queue and its retries. */
  apply: LedgerStore['apply']
  leases: Leases
  /** Chooses how the next statement of the ledger fails; undefined if it does not fail. */
  trouble: (statement: string) => Trouble | undefined
  /** The amounts of calls that could not be charged. */
  lost: number[]
  /** From now on, no statement of this node reaches the database, and no response comes back. */
  crash(): void
  /** Waits for statements that take effect late. */
  late(): Promise<unknown>
  /** Shuts down the node properly, or closes the connections of a crashed node. */
  close(): Promise<void>
}

const never = new Promise<never>(() => undefined)
/** A process id that no process on this machine has. */
const noPid = 4_194_999

/**
 * Starts a node on a PostgreSQL database. The node is registered as a process of this machine that has ended, so that
 * another node can remove it and return its leases.
 */
export async function startLeaseNode(url: string, share: number): Promise<LeaseNode> {
  const store = openStore({ url })
  const pool = new pg.Pool({ connectionString: url, max: 2, onConnect: setUp } as pg.PoolConfig)
  // The database may be deleted before the server has closed the connections, so connection errors are ignored.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  let isCrashed = false
  const query = async (config: { name?: string; text?: string } | string, ...rest: unknown[]) => {
    if (isCrashed) return never
    const run = () => (pool.query as (...all: unknown[]) => Promise<unknown>)(config, ...rest)
    const trouble = node.trouble(typeof config === 'string' ? '' : (config.name ?? ''))
    if (trouble === 'unsent') throw Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' })
    if (trouble === 'late')
      late.push(new Promise((resolve) => setTimeout(() => resolve(run().catch(() => undefined)), 30)))
    if (trouble === 'late') throw new Error('Connection terminated unexpectedly')
    const answer = await run()
    if (isCrashed) return never
    if (trouble === 'lost') throw new Error('Connection terminated unexpectedly')
    return answer
  }
  const late: Promise<unknown>[] = []
  const ledgerStore = postgresLedger({ query } as unknown as pg.Pool)
  const seen: Store = {
    ...store,
    ledger: ledgerStore,
    write: (work) => (isCrashed ? never : store.write(work)),
  }
  const nodeId = randomUUID()
  const batcher = createBatcher(ledgerStore)
  const returns = createReturnQueue(() => performance.now())
  const leases = createLeases({ store: seen, batcher, clock: systemClock, nodeId, returns, warn: () => undefined })
  if (!leases) throw new Error('leases need PostgreSQL')
  leases.setShare(share)
  const lost: number[] = []
  const ledger = createLedger({
    ...{ batcher, returns, leases, nodeId, clock: systemClock },
    holdWaitMs: () => 0,
    onSettleRetry: () => undefined,
    onHoldLost: (_id, charge) => lost.push(charge),
    onRowRefused: () => undefined,
    rowsOf: (requestId) => logsOfRequest(store.read, requestId),
  })
  await list(store, nodeId)
  const node: LeaseNode = {
    ...{ nodeId, store, ledger, apply: ledgerStore.apply, leases, lost },
    trouble: () => undefined,
    late: () => Promise.all(late),
    crash: () => {
      isCrashed = true
    },
    async close() {
      if (!isCrashed) await leases.close()
      await Promise.all(late)
      await pool.end()
      await store.close()
    },
  }
  return node
}

/** Registers a node as a process of this machine that has ended. */
export function list(store: Store, nodeId: string): Promise<void> {
  return beat(store, { id: nodeId, host: machineName(), pid: noPid })
}

async function setUp(client: pg.ClientBase): Promise<void> {
  client.on('error', () => undefined)
  await client.query(ledgerSettings.map((setting) => `set ${setting}`).join('; '))
}

export function asking(account: Account, amount: number, fields: Partial<HoldRequest> = {}): HoldRequest {
  const { userId, tokenId } = account
  const requestId = randomUUID()
  return { userId, tokenId, amount, least: amount, crashCharge: 1, modelName: 'gpt-4o', requestId, ...fields }
}

export function charging(account: Account, charge: number, fields: Partial<Settlement> & { requestId?: string } = {}) {
  const { requestId, ...rest } = fields
  const log = logRow(account, { request_id: requestId ?? '', content: 'a call' })
  return { charge, channelId: account.channelId, log, mayGoNegative: false, ...rest }
}

/** Makes calls for an account until the node has a lease on it. */
export async function untilLeased(node: LeaseNode, account: Account, amount: number): Promise<void> {
  while (!node.leases.covers({ tokenId: account.tokenId, amount })) {
    const hold = await node.ledger.hold(asking(account, amount))
    await hold.release()
  }
}
