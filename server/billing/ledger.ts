import { randomUUID } from 'node:crypto'
import { GatewayError } from '../errors.ts'
import { epochSeconds } from '../lib/clock.ts'
import type { ChannelFull, CrashRow, HoldOp, LimitReached, LogRow, TakeResult } from '../store/schema/ledger-types.ts'
import { ChannelIsFull, type PlaceRequest } from './channel-place.ts'
import type { Leases } from './leases.ts'
import { budgetError, type CallLimits, limitError } from './limits.ts'
import { type Holds, OpenHold, opLimits, placeOf, unavailable } from './open-hold.ts'
import type { ReturnQueue } from './return-queue.ts'
import { releaseOp, type SettleDeps, settleUntilDone } from './settle-until-done.ts'

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
  /** The place that the call needs; absent if its channel has no caps. */
  place?: PlaceRequest
  /** Aborted when the caller disconnects, so that the call stops waiting for quota. */
  signal?: AbortSignal
}

/** A hold that another process may have taken. */
export interface OpenedHold extends Account {
  id: string
  /** Units held. */
  amount: number
  /** The channel on which the call has a place; 0 = none. */
  placedOn: number
  limits: CallLimits | undefined
}

export interface Settlement {
  charge: number
  /** What the call cost the operator, in units; absent = not known. */
  cost?: number
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
  /** The index of the key in the `parts` of the call's place; 0 without a place. */
  readonly part: number
  /** The channel on which the call has a place; 0 = none. */
  readonly placedOn: number
  /**
   * Takes more units; false if no more are available. With 0 units it only records what the call costs if the process
   * dies. Throws GatewayError (database_unavailable).
   */
  extend(units: number, crashCharge: number, crashRow?: CrashRow): Promise<boolean>
  /**
   * Moves the call to another channel or key, and takes more units if there are any. False if it has no place for the
   * call; then nothing changes. Without `place`, the channel has no caps.
   */
  move(units: number, crashCharge: number, crashRow: CrashRow, place: PlaceRequest | undefined): Promise<boolean>
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
  /** Resolves when the hold has a row in the database. Only calls that are paid from a lease must wait for it. */
  stored(): Promise<void>
  /**
   * Must be called once the hold belongs to a job in the background, according to the database: from now on, this object can
   * do nothing with it.
   */
  leaveToJob(): void
  /** True once it is settled or released, or about to be. */
  readonly isClosed: boolean
}

export interface Ledger {
  /**
   * Tries once for the whole amount, without waiting; undefined if refused. Throws GatewayError (rate_limit_exceeded)
   * and ChannelIsFull.
   */
  tryHold(request: HoldRequest): Promise<Hold | undefined>
  /**
   * Takes the amount, waiting for quota that other open calls of the account may give back. In the end it takes what is
   * available, at least `least`. Throws GatewayError (rate_limit_exceeded; token_exhausted,
   * pre_consume_token_quota_failed, insufficient_user_quota; daily_budget_exceeded, monthly_budget_exceeded) and
   * ChannelIsFull.
   */
  hold(request: HoldRequest): Promise<Hold>
  /** An open hold of a job in the background, to be settled here. */
  adopt(open: OpenedHold): Hold
  /** Number of open holds of this process. */
  openHolds(): number
  /** Number of holds and leases that this process has asked for. */
  holdsTaken(): number
  /**
   * The state of a hold that is recorded under this process's name. `open`: a call owns it. `unsettled`: its call has
   * ended and the database rejected the charge. `unknown`: no call ever got it, because the database's response was
   * lost.
   */
  stateOf(holdId: string): 'open' | 'unsettled' | 'unknown'
  /** The leases from which calls are paid; absent on SQLite. */
  readonly leases?: Leases | undefined
}

export interface LedgerDeps extends SettleDeps {
  returns: ReturnQueue
  nodeId: string
  /** How long a call waits for other calls to give quota back. */
  holdWaitMs(): number
  /** Called when a call has freed its place on a channel with caps. */
  placeFreed?(): void
  /** The leases of this process; absent on SQLite. */
  leases?: Leases | undefined
}

/** The result of taking a hold: the hold, or a refusal because there is not enough quota. */
type Taken = Exclude<TakeResult, LimitReached | ChannelFull>
type Refused = Exclude<Taken, { ok: true }>

export function createLedger(deps: LedgerDeps): Ledger {
  const { batcher, returns, leases } = deps
  const holds: Holds = { open: 0, taken: 0, known: new Map() }
  const { known } = holds

  /** Registers the hold before the database is called, so that no sweep finds a hold that seems to have no owner. */
  async function opening(request: HoldRequest, take: (id: string) => Promise<Taken>): Promise<Hold | Refused> {
    const id = randomUUID()
    known.set(id, 'open')
    holds.taken++
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
    return new OpenHold(deps, holds, id, request, result)
  }

  async function take(request: HoldRequest, id: string, least: number): Promise<Taken> {
    const { limits, place } = request
    let result: TakeResult
    try {
      result = (await batcher.push(holdOp(deps, request, id, least))) as TakeResult
    } catch (error) {
      // The commit may have succeeded although its response was lost. Or it may succeed later, when a lock is released.
      // The hold then has no owner, and is swept.
      void settleUntilDone(deps, releaseOp(deps, id, { ...request, placedOn: place?.channelId ?? 0 }))
      throw unavailable(error)
    }
    if (limits) limits.minutes = result.minutes
    if (!result.ok && result.reason === 'limit') throw limitError(result, request.tokens ?? 0)
    if (!result.ok && result.reason === 'full') throw new ChannelIsFull(result)
    if (leases && result.ok && !limits && !place) leases.held(request)
    return result
  }

  /** A hold from a lease, without waiting for the database; undefined if no lease covers it. */
  function fromLease(request: HoldRequest): Hold | undefined {
    if (!leases || request.limits || request.place || !leases.covers(request)) return undefined
    const id = randomUUID()
    const draw = leases.draw(holdOp(deps, request, id, request.amount))
    if (!draw) return undefined
    known.set(id, 'open')
    holds.taken++
    return new OpenHold(deps, holds, id, request, request, draw)
  }

  /** As `takeInTurn`, but first the leases of the account are called back. */
  async function takeAtLast(request: HoldRequest, id: string, refused: Refused): Promise<Taken> {
    let result: Taken = refused
    for (let round = 0; round < 2; round++) {
      if (!result.ok && result.leased && leases) {
        await leases.callBack(request.userId)
        result = await take(request, id, request.amount)
      } else if (round > 0) break
      if (!result.ok) result = await takeInTurn(request, id, result)
      if (result.ok || request.signal?.aborted) break
    }
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
    leases,
    adopt: ({ id, placedOn, ...open }) => {
      const hold = new OpenHold(deps, holds, id, open, open)
      hold.placedOn = placedOn
      return hold
    },
    openHolds: () => holds.open,
    holdsTaken: () => holds.taken + (leases?.asked() ?? 0),
    stateOf: (id) => known.get(id) ?? 'unknown',
    async tryHold(request) {
      const leased = fromLease(request)
      if (leased) return leased
      const hold = await opening(request, (id) => take(request, id, request.amount))
      return 'ok' in hold ? undefined : hold
    },
    async hold(request) {
      const leased = fromLease(request)
      if (leased) return leased
      const hold = await opening(request, async (id) => {
        const result = await take(request, id, request.amount)
        return result.ok ? result : takeAtLast(request, id, result)
      })
      if ('ok' in hold) throw refusal(hold)
      return hold
    },
  }
}

function holdOp(deps: LedgerDeps, request: HoldRequest, id: string, least: number): HoldOp {
  const { limits, place } = request
  const createdAt = epochSeconds(deps.clock)
  return {
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
    ...(place && placeOf(place)),
  }
}

function refusal(result: Refused): GatewayError {
  if (result.reason === 'gone') return new GatewayError('invalid_token', 'invalid token')
  if (result.budget) return budgetError(result.budget, result.reason, result.retryAfter ?? 0)
  if (result.reason === 'user') return new GatewayError('insufficient_user_quota', 'user quota is not enough')
  if (result.available <= 0 && !result.othersOpen)
    return new GatewayError('token_exhausted', 'the quota of the token is exhausted: raise it, or use another token')
  return new GatewayError('pre_consume_token_quota_failed', 'token quota is not enough')
}
