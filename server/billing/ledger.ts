import { randomUUID } from 'node:crypto'
import { GatewayError } from '../errors.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import type {
  CrashRow,
  LimitReached,
  LogRow,
  OpLimits,
  SettleOp,
  SettleResult,
  TakeResult,
} from '../store/schema/ledger-types.ts'
import { type Batcher, isRefusal } from './batcher.ts'
import { budgetError, type CallLimits, limitError } from './limits.ts'
import type { ReturnQueue } from './return-queue.ts'

/** The user and the token whose quota a call uses. */
export interface Account {
  userId: number
  tokenId: number
}

export interface HoldRequest extends Account {
  /** The units wanted: the most that the call can cost, or the first slice of a stream. */
  amount: number
  /** The fewest units with which it makes sense to start the call. */
  least: number
  /** Units charged if this process dies during the call. */
  crashCharge: number
  /** What the log row of the call contains if this process dies during the call. */
  crashRow?: CrashRow
  modelName: string
  requestId: string
  /** The limits in force. The ledger sets their `minutes`. */
  limits?: CallLimits | undefined
  /** Tokens that count against the limits until the call ends; none by default. */
  tokens?: number
  /** Aborted when the caller disconnects, so that the call stops waiting for quota. */
  signal?: AbortSignal
}

export interface Settlement {
  charge: number
  /** Tokens that the call used, for its limits; by default the number reserved. */
  tokens?: number
  channelId: number
  /** The row to write; undefined if logging is off. */
  log: LogRow | undefined
  mayGoNegative: boolean
}

/** Quota taken for one open call. Exactly one of `settle` and `release` must be called, once. */
export interface Hold {
  readonly id: string
  /** Units held so far. */
  readonly amount: number
  /**
   * Takes more units; false if no more are available. With 0 units it only records what the call costs if the process
   * dies. Throws GatewayError (database_unavailable).
   */
  extend(units: number, crashCharge: number, crashRow?: CrashRow): Promise<boolean>
  /**
   * Charges, gives the rest back and writes the log row. Resolves with the units charged, once the charge is durable.
   */
  settle(settlement: Settlement): Promise<number>
  /** Gives everything back. */
  release(): Promise<void>
  /**
   * From now on a response owns the hold: the end of the response settles it, and the function that took the hold no
   * longer gives it back.
   */
  handOver(): void
  readonly isHandedOver: boolean
}

export interface Ledger {
  /**
   * Tries once for the whole amount, without waiting; undefined if refused. Throws GatewayError (rate_limit_exceeded).
   */
  tryHold(request: HoldRequest): Promise<Hold | undefined>
  /**
   * Takes the amount, waiting for quota that other open calls of the account may give back. In the end it takes what is
   * available, at least `least`. Throws GatewayError (rate_limit_exceeded; token_exhausted,
   * pre_consume_token_quota_failed, insufficient_user_quota; daily_budget_exceeded, monthly_budget_exceeded).
   */
  hold(request: HoldRequest): Promise<Hold>
  /** Number of open holds of this process. */
  openHolds(): number
  /**
   * The state of a hold that is recorded under this process's name. `open`: a call owns it. `unsettled`: its call has
   * ended and the database rejected the charge. `unknown`: no call ever got it, because the database's response was
   * lost.
   */
  stateOf(holdId: string): 'open' | 'unsettled' | 'unknown'
}

export interface LedgerDeps {
  batcher: Batcher
  returns: ReturnQueue
  clock: Clock
  nodeId: string
  /** How long a call waits for other calls to give quota back. */
  holdWaitMs(): number
  /** Called when a settle is postponed because the database failed. The settle is retried until it succeeds. */
  onSettleRetry(error: unknown): void
  /**
   * Called when a call ends and another process has closed its hold in the meantime, because that process considered
   * this one dead.
   */
  onHoldLost(holdId: string, charge: number): void
  /** Called when a charge was written without its log row, because the database rejected the row. */
  onRowRefused(requestId: string, charge: number): void
  /** The log rows of a call, for a charge whose database response was lost. */
  rowsOf(requestId: string): Promise<readonly { content: string; quota: number }[]>
}

/** The result of taking a hold: the hold, or a refusal because there is not enough quota. */
type Taken = Exclude<TakeResult, LimitReached>
type Refused = Exclude<Taken, { ok: true }>

/** The holds of this process. */
interface Holds {
  open: number
  readonly known: Map<string, 'open' | 'unsettled'>
}

const settleRetryDelaysMs = [50, 200, 1000, 3000, 5000]

export function createLedger(deps: LedgerDeps): Ledger {
  const { batcher, returns } = deps
  const holds: Holds = { open: 0, known: new Map() }
  const { known } = holds

  /** Registers the hold before the database is called, so that no sweep finds a hold that seems to have no owner. */
  async function opening(request: HoldRequest, take: (id: string) => Promise<Taken>): Promise<Hold | Refused> {
    const id = randomUUID()
    known.set(id, 'open')
    let result: Taken
    try {
      result = await take(id)
    } catch (error) {
      known.delete(id)
      throw error
    }
    if (!result.ok) {
      known.delete(id)
      return result
    }
    return new OpenHold(deps, holds, id, request, result.amount)
  }

  async function take(request: HoldRequest, id: string, least: number): Promise<Taken> {
    const { limits } = request
    const createdAt = epochSeconds(deps.clock)
    let result: TakeResult
    try {
      result = (await batcher.push({
        kind: 'hold',
        id,
        userId: request.userId,
        tokenId: request.tokenId,
        amount: request.amount,
        minimum: least,
        crashCharge: request.crashCharge,
        crashRow: request.crashRow,
        nodeId: deps.nodeId,
        createdAt,
        modelName: request.modelName,
        requestId: request.requestId,
        ...(limits && { limits: { ...opLimits(limits, createdAt), tokens: request.tokens ?? 0 } }),
      })) as TakeResult
    } catch (error) {
      // The commit may have succeeded although its response was lost. Or it may succeed later, when a lock is released.
      // The hold then has no owner, and is swept.
      void settleUntilDone(deps, releaseOp(deps, id, request))
      throw unavailable(error)
    }
    if (limits) limits.minutes = result.minutes
    if (!result.ok && result.reason === 'limit') throw limitError(result, request.tokens ?? 0)
    return result
  }

  /**
   * Queues behind the account's other calls, so that each call is refused only after the calls before it got their
   * quota. Takes the whole amount, or what is available once no call can give back any more.
   */
  async function takeInTurn(request: HoldRequest, id: string, refused: Refused): Promise<Taken> {
    const takeLeast = (whole: Refused) => (whole.available < request.least ? whole : take(request, id, request.least))
    const account = refused.reason === 'token' ? `t${request.tokenId}` : `u${request.userId}`
    const result = await returns.wait<Taken>(account, deps.holdWaitMs(), async () => {
      let again = await take(request, id, request.amount)
      if (!again.ok && !again.othersOpen) again = await takeLeast(again)
      if (again.ok) return { value: again, done: true, state: '' }
      const done = !again.othersOpen || request.signal?.aborted === true
      return { value: again, done, state: `${again.used}/${again.available}` }
    })
    return result.ok || !result.othersOpen || request.signal?.aborted ? result : takeLeast(result)
  }

  return {
    openHolds: () => holds.open,
    stateOf: (id) => known.get(id) ?? 'unknown',
    async tryHold(request) {
      const hold = await opening(request, (id) => take(request, id, request.amount))
      return 'ok' in hold ? undefined : hold
    },
    async hold(request) {
      const hold = await opening(request, async (id) => {
        const result = await take(request, id, request.amount)
        return result.ok ? result : takeInTurn(request, id, result)
      })
      if ('ok' in hold) throw refusal(hold)
      return hold
    },
  }
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('database_unavailable', 'the account database cannot be reached; try again', { cause })
}

function refusal(result: Refused): GatewayError {
  if (result.reason === 'gone') return new GatewayError('invalid_token', 'invalid token')
  if (result.budget) return budgetError(result.budget, result.reason, result.retryAfter ?? 0)
  if (result.reason === 'user') return new GatewayError('insufficient_user_quota', 'user quota is not enough')
  if (result.available <= 0 && !result.othersOpen)
    return new GatewayError('token_exhausted', 'the quota of the token is exhausted: raise it, or use another token')
  return new GatewayError('pre_consume_token_quota_failed', 'token quota is not enough')
}

function opLimits({ token, user }: CallLimits, at: number): OpLimits {
  return { token, user, at }
}

function releaseOp(deps: LedgerDeps, id: string, account: Account): SettleOp {
  return { ...settleOp(deps, id, account), requests: 0, tokens: 0 }
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

/**
 * A settle must not be lost: it is retried until the database accepts it, and the hold row ensures that it takes effect
 * only once. A settle that the database rejects because of its content is tried once more without its log row. If that
 * is rejected, too, the hold is left to the sweep and the result is undefined.
 */
async function settleUntilDone(deps: LedgerDeps, op: SettleOp): Promise<SettleResult | undefined> {
  let withLog = op.log !== undefined
  let mayBeDone = false
  for (let attempt = 0; ; attempt++) {
    try {
      const result = (await deps.batcher.push(withLog ? op : { ...op, log: undefined })) as SettleResult
      if (result.found && op.log && !withLog) deps.onRowRefused(op.log.request_id ?? '', result.charged)
      if (result.found || op.charge === 0) return result
      // We may have closed the hold ourselves, if an earlier try succeeded and only its response was lost.
      const written = mayBeDone ? await ownCharge(deps, op) : 'none'
      if (written === 'none') deps.onHoldLost(op.id, op.charge)
      return typeof written === 'number' ? { charged: written, found: true } : result
    } catch (error) {
      deps.onSettleRetry(error)
      mayBeDone ||= !isWithoutEffect(error)
      if (isRefusal(error) && !withLog) return undefined
      if (isRefusal(error)) withLog = false
      const delayMs = settleRetryDelaysMs[Math.min(attempt, settleRetryDelaysMs.length - 1)]
      await new Promise((resolve) => setTimeout(resolve, delayMs))
    }
  }
}

/**
 * What an earlier try charged, according to the log row that it wrote. Unknown if no log row is written or it cannot be
 * read.
 */
async function ownCharge(deps: LedgerDeps, { log }: SettleOp): Promise<number | 'none' | 'unknown'> {
  if (!log?.request_id) return 'unknown'
  try {
    const rows = await deps.rowsOf(log.request_id)
    // A process that considered the call dead writes a row with a different text.
    return rows.find(({ content }) => content.startsWith(log.content ?? ''))?.quota ?? 'none'
  } catch {
    return 'unknown'
  }
}

/**
 * Failures before anything was sent to PostgreSQL: network errors, a server that is starting up, and the driver's
 * timeouts.
 */
const unsent = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|57P03)$/
const unsentWords =
  /^(timeout exceeded when trying to connect|timeout expired|Connection terminated due to connection timeout)$/

/**
 * Whether it is certain that nothing was written: the operation was not sent, or the database itself reported the
 * failure.
 */
function isWithoutEffect(error: unknown): boolean {
  const { code, syscall, severity, message } = (error ?? {}) as Record<string, unknown>
  if (syscall === 'connect' || unsent.test(String(code)) || unsentWords.test(String(message))) return true
  return severity === 'ERROR' || isRefusal(error)
}

/** The quota of one open call. This is a class because thousands can be open at the same time. */
class OpenHold implements Hold {
  readonly id: string
  amount: number
  readonly #deps: LedgerDeps
  readonly #holds: Holds
  readonly #userId: number
  readonly #tokenId: number
  readonly #limits: CallLimits | undefined
  isHandedOver = false
  #isClosed = false

  constructor(deps: LedgerDeps, holds: Holds, id: string, request: HoldRequest, amount: number) {
    this.id = id
    this.amount = amount
    this.#deps = deps
    this.#holds = holds
    this.#userId = request.userId
    this.#tokenId = request.tokenId
    this.#limits = request.limits
    holds.open++
  }

  async extend(units: number, crashCharge: number, crashRow?: CrashRow): Promise<boolean> {
    const result = (await this.#deps.batcher
      .push({
        kind: 'extend',
        id: this.id,
        userId: this.#userId,
        tokenId: this.#tokenId,
        amount: units,
        minimum: Math.min(1, units),
        crashCharge,
        crashRow,
        ...(this.#limits && { limits: opLimits(this.#limits, epochSeconds(this.#deps.clock)) }),
      })
      .catch((error: unknown) => Promise.reject(unavailable(error)))) as TakeResult
    if (!result.ok) return false
    this.amount += result.amount
    return true
  }

  settle(settlement: Settlement): Promise<number> {
    const op = Object.assign(settleOp(this.#deps, this.id, this.#account), settlement)
    if (this.#limits) op.limits = opLimits(this.#limits, op.at)
    return this.#close(op)
  }

  async release(): Promise<void> {
    await this.#close(releaseOp(this.#deps, this.id, this.#account))
  }

  handOver(): void {
    this.isHandedOver = true
  }

  get #account(): Account {
    return { userId: this.#userId, tokenId: this.#tokenId }
  }

  /** Resolves with the units charged. */
  async #close(op: SettleOp): Promise<number> {
    if (this.#isClosed) throw new Error('a hold was closed twice')
    this.#isClosed = true
    op.held = this.amount
    const result = await settleUntilDone(this.#deps, op)
    this.#holds.open--
    if (result) this.#holds.known.delete(this.id)
    else this.#holds.known.set(this.id, 'unsettled')
    const { returns } = this.#deps
    if (returns.isWaitedFor()) {
      returns.returned(`t${this.#tokenId}`)
      returns.returned(`u${this.#userId}`)
    }
    return result?.charged ?? 0
  }
}
