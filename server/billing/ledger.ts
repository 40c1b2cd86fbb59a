import { randomUUID } from 'node:crypto'
import { GatewayError } from '../errors.ts'
import { epochSeconds } from '../lib/clock.ts'
import type { ChannelFull, HoldOp, LimitReached, TakeResult } from '../store/schema/ledger-types.ts'
import { ChannelIsFull } from './channel-place.ts'
import type { Hold, HoldRequest, Ledger, LedgerDeps } from './hold.ts'
import { budgetError, limitError } from './limits.ts'
import { type Holds, OpenHold, opLimits, placeOf, unavailable } from './open-hold.ts'
import { releaseOp, settleUntilDone } from './settle-until-done.ts'

export type { Hold, HoldRequest, Ledger, LedgerDeps, Settlement } from './hold.ts'

/** The result of taking a hold: the hold, or a refusal because there is not enough quota. */
type Taken = Exclude<TakeResult, LimitReached | ChannelFull>
type Refused = Exclude<Taken, { ok: true }>

export function createLedger(deps: LedgerDeps): Ledger {
  const { batcher, returns, leases } = deps
  const holds: Holds = { open: 0, taken: 0, known: new Map() }
  const { known } = holds

  /**
   * Takes a hold. Registers its id before the request to the database, so that the sweep does not treat the hold as
   * abandoned. If the hold is refused, returns the result of `refused`.
   */
  async function opening<T>(
    request: HoldRequest,
    take: (id: string) => Promise<Taken>,
    refused: (refusal: Refused) => T,
  ): Promise<Hold | T> {
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
      return refused(result)
    }
    return new OpenHold(deps, holds, id, request, result)
  }

  async function take(request: HoldRequest, id: string, least: number): Promise<Taken> {
    const { limits, place } = request
    let result: TakeResult
    try {
      result = (await batcher.push(holdOp(deps, request, id, least))) as TakeResult
    } catch (error) {
      // The commit may have succeeded although its response was lost, or it may succeed later, when a lock is released.
      // The hold then has no owner, so it is released here. If that fails, the sweep (`sweep-holds.ts`) releases it.
      void settleUntilDone(deps, releaseOp(deps, id, { ...request, placedOn: place?.channelId ?? 0 }))
      throw unavailable(error)
    }
    if (limits) limits.minutes = result.minutes
    if (!result.ok && result.reason === 'limit') throw limitError(result, request.tokens ?? 0)
    if (!result.ok && result.reason === 'full') throw new ChannelIsFull(result)
    if (leases && result.ok && !limits && !place) leases.held(request)
    return result
  }

  /** Takes a hold from a lease without waiting for the database. Returns undefined if no lease covers the request. */
  function fromLease(request: HoldRequest): Hold | undefined {
    if (!leases || request.limits || request.place || !leases.covers(request)) return undefined
    const id = randomUUID()
    const draw = leases.draw(holdOp(deps, request, id, request.amount))
    if (!draw) return undefined
    known.set(id, 'open')
    holds.taken++
    return new OpenHold(deps, holds, id, request, request, draw)
  }

  /** Like `takeInTurn`, but first recalls the account's leases, if there are any. */
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
   * Queues behind the account's other waiting calls, so that calls get quota in the order of arrival. Takes the whole
   * amount. If no open call can give quota back, it takes what is available.
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
    tryHold(request) {
      const leased = fromLease(request)
      if (leased) return Promise.resolve(leased)
      return opening(request, (id) => take(request, id, request.amount), nothing)
    },
    hold(request) {
      const leased = fromLease(request)
      if (leased) return Promise.resolve(leased)
      const takeWaiting = async (id: string) => {
        const result = await take(request, id, request.amount)
        return result.ok ? result : takeAtLast(request, id, result)
      }
      return opening(request, takeWaiting, refuse)
    },
  }
}

function nothing(): undefined {
  return undefined
}

function refuse(refused: Refused): never {
  throw refusal(refused)
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
