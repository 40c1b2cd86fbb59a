import { randomUUID } from 'node:crypto'
import { GatewayError } from '../errors.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { LogRow, SettleOp, SettleResult, TakeResult } from '../store/ledger-store.ts'
import type { Batcher } from './batcher.ts'
import type { ReturnQueue } from './return-queue.ts'

/** Whose quota a call takes, and what for. */
export interface Account {
  userId: number
  tokenId: number
}

export interface HoldRequest extends Account {
  /** Wanted units: the ceiling of the call, or the first slice of a stream. */
  amount: number
  /** Fewest units with which the call makes sense. */
  least: number
  /** Units charged if this process dies in the middle. */
  crashCharge: number
  modelName: string
  requestId: string
  /** Aborted when the caller leaves: then nobody waits for quota any more. */
  signal?: AbortSignal
}

export interface Settlement {
  charge: number
  channelId: number
  /** The row to write; undefined = logging is off. */
  log: LogRow | undefined
  mayGoNegative: boolean
}

/** Quota taken for one open call. Exactly one of `settle` and `release` must be called, once. */
export interface Hold {
  readonly id: string
  /** Units held by now. */
  readonly amount: number
  /** Takes more; false when nothing more is to be had. */
  extend(units: number, crashCharge: number): Promise<boolean>
  /** Charges, gives the rest back and writes the log row. Resolves with the units charged, once that is durable. */
  settle(settlement: Settlement): Promise<number>
  /** Gives everything back. */
  release(): Promise<void>
}

export interface Ledger {
  /** One try for the whole amount, without waiting; undefined = refused. */
  tryHold(request: HoldRequest): Promise<Hold | undefined>
  /**
   * Takes the amount, waiting for what other open calls of the account may give back; at last takes what is there, at
   * least `least`. Throws GatewayError (token_exhausted, pre_consume_token_quota_failed, insufficient_user_quota).
   */
  hold(request: HoldRequest): Promise<Hold>
  /** Holds of this process that are open. */
  openHolds(): number
}

export interface LedgerDeps {
  batcher: Batcher
  returns: ReturnQueue
  clock: Clock
  nodeId: string
  /** How long a call waits for others to give quota back. */
  holdWaitMs(): number
  /** Called when a settle had to be put off because the database failed; it is repeated until it succeeds. */
  onSettleRetry(error: unknown): void
  /** Called when a call ended whose hold another process had closed meanwhile, taking this one for dead. */
  onHoldLost(holdId: string, charge: number): void
}

type Refused = Exclude<TakeResult, { ok: true }>

/** Longer than the database lets any statement of the ledger run. */
const lostStatementMs = 30_000
const settleRetryDelaysMs = [50, 200, 1000, 3000, 5000]

export function createLedger(deps: LedgerDeps): Ledger {
  const { batcher, returns } = deps
  let open = 0
  const opened = (id: string, account: Account, amount: number) => {
    open++
    return openHold(deps, id, account, amount, () => open--)
  }

  async function take(request: HoldRequest, id: string, least: number): Promise<TakeResult> {
    try {
      const result = await batcher.push({
        kind: 'hold',
        id,
        userId: request.userId,
        tokenId: request.tokenId,
        amount: request.amount,
        minimum: least,
        crashCharge: request.crashCharge,
        nodeId: deps.nodeId,
        createdAt: epochSeconds(deps.clock),
        modelName: request.modelName,
        requestId: request.requestId,
      })
      return result as TakeResult
    } catch (error) {
      // The commit may have gone through although its answer was lost: make sure that no hold stays behind.
      const release = () => void settleUntilDone(deps, { ...settleOp(deps, id, request), charge: 0, requests: 0 })
      release()
      // The lost statement may still be waiting for a lock; once more when no statement can be.
      setTimeout(release, lostStatementMs).unref()
      throw new GatewayError('database_unavailable', 'the account database cannot be reached, try again', {
        cause: error,
      })
    }
  }

  /**
   * In line with the account's other calls, so that each is refused only when those before it have had theirs: takes the
   * whole amount, or what is there once nobody can give back any more.
   */
  async function takeInTurn(request: HoldRequest, id: string, refused: Refused): Promise<TakeResult> {
    const takeLeast = (whole: Refused) => (whole.available < request.least ? whole : take(request, id, request.least))
    const account = refused.reason === 'token' ? `t${request.tokenId}` : `u${request.userId}`
    const result = await returns.wait<TakeResult>(account, deps.holdWaitMs(), async () => {
      let again = await take(request, id, request.amount)
      if (!again.ok && !again.othersOpen) again = await takeLeast(again)
      if (again.ok) return { value: again, done: true, state: '' }
      const done = !again.othersOpen || request.signal?.aborted === true
      return { value: again, done, state: `${again.used}/${again.available}` }
    })
    return result.ok || !result.othersOpen || request.signal?.aborted ? result : takeLeast(result)
  }

  return {
    openHolds: () => open,
    async tryHold(request) {
      const id = randomUUID()
      const result = await take(request, id, request.amount)
      return result.ok ? opened(id, request, result.amount) : undefined
    },
    async hold(request) {
      const id = randomUUID()
      let result = await take(request, id, request.amount)
      if (!result.ok) result = await takeInTurn(request, id, result)
      if (result.ok) return opened(id, request, result.amount)
      throw refusal(result)
    },
  }
}

function refusal(result: Refused): GatewayError {
  if (result.reason === 'gone') return new GatewayError('invalid_token', 'invalid token')
  if (result.reason === 'user') return new GatewayError('insufficient_user_quota', 'user quota is not enough')
  if (result.available <= 0 && !result.othersOpen) return new GatewayError('token_exhausted', 'token quota exhausted')
  return new GatewayError('pre_consume_token_quota_failed', 'token quota is not enough')
}

function settleOp(deps: LedgerDeps, id: string, account: Account): SettleOp {
  return {
    kind: 'settle',
    id,
    userId: account.userId,
    tokenId: account.tokenId,
    channelId: 0,
    charge: 0,
    mayGoNegative: false,
    requests: 1,
    log: undefined,
    at: epochSeconds(deps.clock),
  }
}

/** A settle must not be lost: it is repeated until the database takes it; the hold row makes it happen once. */
async function settleUntilDone(deps: LedgerDeps, op: SettleOp): Promise<SettleResult> {
  for (let attempt = 0; ; attempt++) {
    try {
      const result = (await deps.batcher.push(op)) as SettleResult
      // After a retry it may have been ourselves: the first commit went through and only its answer was lost.
      if (!result.found && attempt === 0 && op.charge > 0) deps.onHoldLost(op.id, op.charge)
      return result
    } catch (error) {
      deps.onSettleRetry(error)
      const delayMs = settleRetryDelaysMs[Math.min(attempt, settleRetryDelaysMs.length - 1)]
      await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }
}

function openHold(deps: LedgerDeps, id: string, account: Account, amount: number, onClose: () => void): Hold {
  let held = amount
  let closed = false
  async function close(op: SettleOp): Promise<SettleResult> {
    if (closed) throw new Error('a hold was closed twice')
    closed = true
    const result = await settleUntilDone(deps, op)
    onClose()
    deps.returns.returned(`t${account.tokenId}`)
    deps.returns.returned(`u${account.userId}`)
    return result
  }
  return {
    id,
    get amount() {
      return held
    },
    async extend(units, crashCharge) {
      const result = (await deps.batcher
        .push({
          kind: 'extend',
          id,
          userId: account.userId,
          tokenId: account.tokenId,
          amount: units,
          minimum: 1,
          crashCharge,
        })
        .catch(() => undefined)) as TakeResult | undefined
      if (!result?.ok) return false
      held += result.amount
      return true
    },
    async settle(settlement) {
      const result = await close({ ...settleOp(deps, id, account), ...settlement })
      return result.charged
    },
    async release() {
      await close({ ...settleOp(deps, id, account), requests: 0 })
    },
  }
}
