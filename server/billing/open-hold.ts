import { GatewayError } from '../errors.ts'
import { epochSeconds } from '../lib/clock.ts'
import type { CrashRow, ExtendOp, OpLimits, SettleOp, SettleResult, TakeResult } from '../store/schema/ledger-types.ts'
import type { PlaceRequest } from './channel-place.ts'
import type { Draw } from './draw.ts'
import type { Account, Hold, HoldRequest, LedgerDeps, Settlement } from './hold.ts'
import type { CallLimits } from './limits.ts'
import { releaseOp, settleOp, settleUntilDone } from './settle-until-done.ts'

/** The holds of this process. */
export interface Holds {
  open: number
  taken: number
  readonly known: Map<string, 'open' | 'unsettled'>
}

/** The error for a call whose hold cannot be taken because the database fails. */
export function unavailable(cause: unknown): GatewayError {
  return new GatewayError('database_unavailable', 'the account database cannot be reached; try again', { cause })
}

/** A requested place on a channel, in the form that the ledger's operations use. */
export function placeOf({ channelId, ...caps }: PlaceRequest) {
  return { caps, channelId }
}

/** Limits in the form that the ledger's operations use. */
export function opLimits({ token, user }: CallLimits, at: number): OpLimits {
  return { token, user, at }
}

type Extension = Pick<ExtendOp, 'amount' | 'crashCharge' | 'crashRow' | 'caps' | 'channelId' | 'leaves'>

/**
 * The quota of one open call. It is a class, because thousands can be open at the same time and shared methods save
 * memory.
 */
export class OpenHold implements Hold {
  readonly id: string
  amount: number
  part: number
  placedOn: number
  readonly #deps: LedgerDeps
  readonly #holds: Holds
  readonly #userId: number
  readonly #tokenId: number
  readonly #limits: CallLimits | undefined
  /** The units that the call has taken from a lease; undefined if it has a row in the database. */
  #draw: Draw | undefined
  isHandedOver = false
  isClosed = false

  constructor(
    deps: LedgerDeps,
    holds: Holds,
    id: string,
    request: Pick<HoldRequest, 'userId' | 'tokenId' | 'limits' | 'place'>,
    taken: { amount: number; part?: number },
    draw?: Draw,
  ) {
    this.id = id
    this.amount = taken.amount
    this.part = taken.part ?? 0
    this.placedOn = request.place?.channelId ?? 0
    this.#deps = deps
    this.#holds = holds
    this.#userId = request.userId
    this.#tokenId = request.tokenId
    this.#limits = request.limits
    this.#draw = draw
    holds.open++
  }

  async extend(units: number, crashCharge: number, crashRow?: CrashRow): Promise<boolean> {
    const result = await this.#extend({ amount: units, crashCharge, crashRow })
    return result.ok
  }

  async move(
    units: number,
    crashCharge: number,
    crashRow: CrashRow,
    place: PlaceRequest | undefined,
  ): Promise<boolean> {
    const to = place ? placeOf(place) : { leaves: true as const }
    const result = await this.#extend({ amount: units, crashCharge, crashRow, ...to })
    if (!result.ok && result.reason === 'full') return false
    if (this.placedOn !== 0) this.#deps.placeFreed?.()
    this.placedOn = place?.channelId ?? 0
    this.part = (result.ok && result.part) || 0
    return true
  }

  #extend(op: Extension): Promise<TakeResult> {
    const { leases } = this.#deps
    return this.#draw || leases?.mayBeOut() ? this.#extendAtLast(op) : this.#take(op)
  }

  /** Extends the hold. If the balance is not enough, it recalls the account's leases and tries again. */
  async #extendAtLast(op: Extension): Promise<TakeResult> {
    await this.stored()
    const result = await this.#take(op)
    if (result.ok ? result.amount >= op.amount : !('leased' in result)) return result
    await this.#deps.leases?.callBack(this.#userId)
    if (!result.ok) return this.#take(op)
    const { crashCharge, crashRow } = op
    const more = await this.#take({ amount: op.amount - result.amount, crashCharge, crashRow })
    return more.ok ? { ...result, amount: result.amount + more.amount } : result
  }

  async #take(op: Extension): Promise<TakeResult> {
    const isPlaced = this.placedOn !== 0 || op.caps !== undefined
    const result = (await this.#deps.batcher
      .push({
        kind: 'extend',
        id: this.id,
        userId: this.#userId,
        tokenId: this.#tokenId,
        minimum: Math.min(1, op.amount),
        ...op,
        ...(this.#limits && { limits: opLimits(this.#limits, epochSeconds(this.#deps.clock)) }),
        ...(isPlaced && { placedOn: this.placedOn, at: epochSeconds(this.#deps.clock) }),
      })
      .catch((error: unknown) => Promise.reject(unavailable(error)))) as TakeResult
    if (result.ok) this.amount += result.amount
    return result
  }

  async stored(): Promise<void> {
    if (!this.#draw) return
    await this.#draw.stored()
    this.#draw = undefined
  }

  settle(settlement: Settlement): Promise<number> {
    const isLimited = settlement.charge > this.amount && !settlement.mayGoNegative
    if (isLimited && this.#deps.leases?.mayBeOut()) return this.#cover(settlement).then(() => this.#settle(settlement))
    return this.#settle(settlement)
  }

  /**
   * Extends a hold that is smaller than the charge to the amount of the charge, and recalls leases if necessary.
   * Without this, the charge would be limited to the part of the balance that is not leased.
   */
  async #cover({ charge }: Settlement): Promise<void> {
    await this.#extend({ amount: charge - this.amount, crashCharge: charge }).catch(() => undefined)
  }

  #settle(settlement: Settlement): Promise<number> {
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

  leaveToJob(): void {
    if (this.isClosed) throw new Error('a closed hold cannot be left to a job')
    this.isClosed = true
    this.isHandedOver = true
    this.#holds.open--
    this.#holds.known.delete(this.id)
  }

  get #account(): Account & { placedOn: number } {
    return { userId: this.#userId, tokenId: this.#tokenId, placedOn: this.placedOn }
  }

  /** Resolves with the units charged. */
  async #close(op: SettleOp): Promise<number> {
    if (this.isClosed) throw new Error('a hold was closed twice')
    this.isClosed = true
    op.held = this.amount
    const result = await (this.#draw ? this.#endFromLease(op, this.#draw) : settleUntilDone(this.#deps, op))
    this.#holds.open--
    if (result) this.#holds.known.delete(this.id)
    else this.#holds.known.set(this.id, 'unsettled')
    if (this.placedOn !== 0) this.#deps.placeFreed?.()
    const { returns } = this.#deps
    if (returns.isWaitedFor()) {
      returns.returned(`t${this.#tokenId}`)
      returns.returned(`u${this.#userId}`)
    }
    return result?.charged ?? 0
  }

  /** Ends a call that was paid from a lease. If the call's row is not in the database yet, it is not written. */
  async #endFromLease(op: SettleOp, draw: Draw): Promise<SettleResult | undefined> {
    const isCovered = op.charge <= this.amount || op.mayGoNegative
    if (!isCovered || !draw.withdraw()) {
      await this.stored()
      return settleUntilDone(this.#deps, op)
    }
    if (op.charge === 0 && op.requests === 0 && !op.log) {
      draw.settled(0)
      return { charged: 0, found: true }
    }
    op.lease = draw.lease.id
    const result = await settleUntilDone(this.#deps, op)
    const isDone = result !== undefined && !result.leaseGone
    draw.settled(isDone && result.found ? Math.min(op.charge, this.amount) : 0, result?.leaseGone)
    if (isDone) return result
    // The lease is gone, or the database rejects the charge. The units are therefore taken from the balance, which
    // writes the call's row. The row can be charged here, or closed by the sweep (`sweep-holds.ts`).
    await draw.takeFromBalance()
    op.lease = undefined
    return result && settleUntilDone(this.#deps, op)
  }
}
