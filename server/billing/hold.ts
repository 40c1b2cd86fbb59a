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
