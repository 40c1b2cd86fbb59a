import type { CrashRow, LogRow } from '../store/schema/ledger-types.ts'
import type { PlaceRequest } from './channel-place.ts'
import type { Leases } from './leases.ts'
import type { CallLimits } from './limits.ts'
import type { ReturnQueue } from './return-queue.ts'
import type { SettleDeps } from './settle-until-done.ts'

/** The user and the token whose quota a call uses. */
export interface Account {
  userId: number
  tokenId: number
}

export interface HoldRequest extends Account {
  /** The requested units: the maximum cost of the call or, for a stream, the cost of the first tokens of output. */
  amount: number
  /** The minimum number of units. With fewer units, the call is refused. */
  least: number
  /** Units charged if this process dies during the call. */
  crashCharge: number
  /** The values for the call's log row if this process dies during the call. */
  crashRow?: CrashRow
  modelName: string
  requestId: string
  /** The limits that apply to the call. The ledger sets `minutes` in them. */
  limits?: CallLimits | undefined
  /** Tokens that count against the limits until the call ends; none by default. */
  tokens?: number
  /**
   * The place that the call needs on its channel, so that it counts towards the channel's caps; absent if the channel
   * has no caps.
   */
  place?: PlaceRequest
  /** Aborted when the caller disconnects. The call then stops waiting for quota. */
  signal?: AbortSignal
}

/** An open hold, possibly taken by another process. */
export interface OpenedHold extends Account {
  id: string
  /** The units held. */
  amount: number
  /** The channel on which the call has a place; 0 = none. */
  placedOn: number
  limits: CallLimits | undefined
}

export interface Settlement {
  charge: number
  /** What the upstream charges the operator for the call, in units; absent if unknown. */
  cost?: number
  /** The tokens that the call used, for its limits. The default is the number of tokens reserved. */
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
  /** The channel key that the call uses, as an index into the `parts` of its place; 0 without a place. */
  readonly part: number
  /** The channel on which the call has a place; 0 = none. */
  readonly placedOn: number
  /**
   * Takes more units. False if no more are available. With 0 units, it only updates the crash charge. Throws
   * GatewayError (database_unavailable).
   */
  extend(units: number, crashCharge: number, crashRow?: CrashRow): Promise<boolean>
  /**
   * Moves the call to another channel or key, and takes more units if they are available. Returns false and changes
   * nothing if the channel has no place for the call. `place` is undefined if the channel has no caps.
   */
  move(units: number, crashCharge: number, crashRow: CrashRow, place: PlaceRequest | undefined): Promise<boolean>
  /**
   * Charges the call, gives the remaining units back and writes the log row. Resolves with the units charged, once the
   * charge is durable.
   */
  settle(settlement: Settlement): Promise<number>
  /** Gives all units back. */
  release(): Promise<void>
  /**
   * Makes a response the owner of the hold. From then on, the end of the response settles the hold, and the function
   * that took the hold does not release it.
   */
  handOver(): void
  readonly isHandedOver: boolean
  /** Resolves when the hold has a row in the database. Only calls that are paid from a lease need to wait for this. */
  stored(): Promise<void>
  /**
   * Must be called when the database has assigned the hold to a background job. From then on, this object must not use
   * the hold.
   */
  leaveToJob(): void
  /** True if the hold is settled or released, or is about to be. */
  readonly isClosed: boolean
}

export interface Ledger {
  /**
   * Tries once to take the whole amount, without waiting. Undefined if the hold is refused. Throws GatewayError
   * (rate_limit_exceeded) and ChannelIsFull.
   */
  tryHold(request: HoldRequest): Promise<Hold | undefined>
  /**
   * Takes the amount. If necessary, it waits for quota that other open calls of the account may give back. If the wait
   * ends without the whole amount, it takes what is available, but at least `least`. Throws GatewayError
   * (rate_limit_exceeded; token_exhausted, pre_consume_token_quota_failed, insufficient_user_quota;
   * daily_budget_exceeded, monthly_budget_exceeded) and ChannelIsFull.
   */
  hold(request: HoldRequest): Promise<Hold>
  /** Takes over an open hold of a background job, in order to settle it. */
  adopt(open: OpenedHold): Hold
  /** The number of open holds of this process. */
  openHolds(): number
  /** The number of holds and leases that this process has requested. */
  holdsTaken(): number
  /**
   * The state of a hold that the database assigns to this process. `open`: a call owns it. `unsettled`: its call has
   * ended, but the database rejected the charge. `unknown`: no call received the hold, because the database's response
   * was lost.
   */
  stateOf(holdId: string): 'open' | 'unsettled' | 'unknown'
  /** The leases from which calls are paid; absent on SQLite. */
  readonly leases?: Leases | undefined
}

export interface LedgerDeps extends SettleDeps {
  returns: ReturnQueue
  nodeId: string
  /** The time that a call waits for other calls to give quota back. */
  holdWaitMs(): number
  /** Called when a call has freed its place on a channel with caps. */
  placeFreed?(): void
  /** The leases of this process; absent on SQLite. */
  leases?: Leases | undefined
}
