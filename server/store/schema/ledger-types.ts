import type { Insertable } from 'kysely'
import type { Limits } from '../../../contract/limits.ts'
import type { CapMetric } from './cap-tables.ts'
import type { LogsTable } from './tables.ts'

/** A log row as it is passed to the ledger. The ledger sets `quota` to the amount actually charged. */
export type LogRow = Omit<Insertable<LogsTable>, 'id' | 'quota'>

/** The owner of a limit. */
export type LimitOwner = 'token' | 'user'

/** The limits of a call: those of its token, and those of its user. */
export interface OpLimits {
  token?: Limits | undefined
  user?: Limits | undefined
  /**
   * The time of the process's clock, in epoch seconds. The ledger uses it on SQLite. On PostgreSQL it uses the
   * database's clock.
   */
  at: number
}

/** The usage of a token or a user in the last minute: 60 complete seconds and the current one. */
export interface Minute {
  calls: number
  tokens: number
  /** The number of seconds until none of these calls, or none of these tokens, are in the last minute. */
  callsReset: number
  tokensReset: number
}

export type Minutes = Partial<Record<LimitOwner, Minute>>

/**
 * If the process dies during a call, the call is charged its crash charge and gets a log row with these values. The
 * crash charge is the price of these tokens.
 */
export interface CrashRow {
  channelId: number
  promptTokens: number
  completionTokens: number
}

/** The place that a call needs on a channel with caps. The caps count each call that has a place. */
export interface PlaceAsked {
  /** The name of the model in the request to the channel. Caps can be restricted to certain models. */
  model: string
  /** The keyed hashes of the keys that the call may use, in order of preference; '' for the only key of a channel. */
  parts: readonly string[]
  /** Tokens reserved in the caps until the call ends. */
  tokens: number
  /**
   * The minimum number of units that the call needs. A cap of quota or cost may leave fewer units than requested, and
   * refuses the call only if it leaves fewer than this minimum.
   */
  least: number
  /**
   * If the channel is full, the call joins the queue with this ticket; 0 = it has no ticket yet; absent = it does not
   * wait.
   */
  ticket?: number
}

/** Takes `amount` units from the user and the token. If fewer are available, it takes fewer, but at least `minimum`. */
export interface HoldOp {
  kind: 'hold'
  id: string
  userId: number
  tokenId: number
  /** The requested number of units. */
  amount: number
  /** The minimum number of units. If fewer are available, the hold is refused. */
  minimum: number
  /** The units that are charged for the call if this process dies before it settles the hold. */
  crashCharge: number
  nodeId: string
  /** Absent if the channel and the numbers of tokens are not known yet. */
  crashRow?: CrashRow | undefined
  /** Epoch seconds. */
  createdAt: number
  modelName: string
  requestId: string
  /**
   * Absent if neither the token nor the user has limits. Such calls are not counted. `tokens` are reserved in the
   * per-minute counts until the call ends.
   */
  limits?: OpLimits & { tokens: number }
  /** `caps` and `channelId` are both absent if the channel has no caps. */
  caps?: PlaceAsked
  channelId?: number
  /** The lease of this process from which the whole amount is taken. The call has no limits and no caps. */
  lease?: string | undefined
}

/**
 * Takes up to `amount` further units, but at least `minimum`, for an open hold. If `amount` is 0, only the crash charge
 * and crash row are updated.
 */
export interface ExtendOp {
  kind: 'extend'
  id: string
  userId: number
  tokenId: number
  amount: number
  minimum: number
  crashCharge: number
  /** If absent, the crash row is unchanged. */
  crashRow?: CrashRow | undefined
  /** The limits of the call. An extension checks only its budgets. */
  limits?: OpLimits
  /**
   * Moves the call to the channel `channelId`, on which it needs this place. If that channel has no place, nothing
   * changes.
   */
  caps?: PlaceAsked
  channelId?: number
  /** True if the call moves to a channel without caps. This frees its place. */
  leaves?: true
  /** The channel on which the call has a place. */
  placedOn?: number
  /** Epoch seconds. Required if `caps`, `leaves` or `placedOn` is set. */
  at?: number
}

/**
 * Ends a hold. It charges `charge`, gives the rest back and writes the log row. A release is a settle with charge 0.
 */
export interface SettleOp {
  kind: 'settle'
  id: string
  userId: number
  tokenId: number
  channelId: number
  charge: number
  /** True if a charge above the hold may take a balance below zero (QuotaPolicy=compat). */
  mayGoNegative: boolean
  /** 1 if the call counts as a request, otherwise 0. */
  requests: 0 | 1
  /**
   * The log row to write; undefined if there is nothing to log or if logging is off. Without a row, the charge is added
   * to `unlogged_quota`.
   */
  log: LogRow | undefined
  /** Epoch seconds. */
  at: number
  /**
   * The amount of the hold, if the process that made it knows it. If the row in the database has another amount, the
   * settle uses that of the row.
   */
  held?: number
  /**
   * What the call costs the operator, in units; absent = not known. Caps of cost count it. The log row, if there is
   * one, contains the same cost.
   */
  cost?: number
  /**
   * The number of tokens that the call used. It replaces the number that the call reserved in its limits and caps;
   * absent = the reserved number stays counted.
   */
  tokens?: number
  /** The limits of the call. A settle checks only its budgets, so that a charge above the hold does not exceed them. */
  limits?: OpLimits
  /** The channel on which the call has a place. */
  placedOn?: number
  /**
   * The lease of this process from which the call is paid. The call has no row in `holds` yet. Either `charge` is at
   * most `held`, or `mayGoNegative` is true.
   */
  lease?: string | undefined
}

export type LedgerOp = HoldOp | ExtendOp | SettleOp

/**
 * The outcome of a hold or an extension. For a hold with limits, `minutes` contains the usage in the last minute of
 * each owner with a limit per minute.
 */
export type TakeResult = { minutes?: Minutes } & (
  | {
      ok: true
      amount: number
      /** For a place on a channel with caps: the index of the key in `parts`. */
      part?: number
    }
  | {
      ok: false
      /**
       * The owner whose balance or budget was insufficient. `gone` means that the user, the token or the hold does not
       * exist.
       */
      reason: 'user' | 'token' | 'gone'
      /** The units that were left in the insufficient balance or budget. */
      available: number
      /**
       * True if the same token or user has other open holds. When they are settled, more units may become available.
       */
      othersOpen: boolean
      /** The units charged to that token or user so far. The number rises whenever a node settles a call. */
      used: number
      /**
       * Set if a budget was insufficient, and not the balance. A new day or month of the budget begins in `retryAfter`
       * seconds.
       */
      budget?: 'daily' | 'monthly'
      retryAfter?: number
      /** True if processes have leases on the balance of that token or user. They return the leases on request. */
      leased?: boolean
    }
  | LimitReached
  | ChannelFull
)

/** The result of a hold that would exceed a limit. Nothing is taken, and the call is not counted. */
export interface LimitReached {
  ok: false
  reason: 'limit'
  limit: 'requests' | 'tokens' | 'concurrency'
  owner: LimitOwner
  /** The value of the limit. */
  most: number
  /** Seconds until there may be room for the call. */
  retryAfter: number
}

/** The result if a channel has no place for a call. Nothing is taken, and the call is not counted. */
export interface ChannelFull {
  ok: false
  reason: 'full'
  /** The id of the cap that has no room, or for which earlier calls are waiting. */
  cap: number
  metric: CapMetric
  /** Seconds until there may be room for the call. */
  retryAfter: number
  /** True if other calls are open or waiting, so that there may be room before `retryAfter`. */
  othersOpen: boolean
  /** True if the call needs more than the whole cap, so that waiting does not help. */
  never: boolean
  /** The call's ticket, if it joined the queue. */
  ticket?: number
}

export interface SettleResult {
  /**
   * The units charged. Fewer than the requested charge if it was above the hold, the balance could not cover the
   * difference, and the balance must not become negative.
   */
  charged: number
  /** False if the hold no longer existed. In that case, nothing was changed. */
  found: boolean
  /**
   * True if the lease from which the call should be paid no longer exists. This happens if another process considered
   * this process dead.
   */
  leaseGone?: boolean
}

export type LedgerResult = TakeResult | SettleResult

/**
 * Applies a batch in one transaction: settles first, then extensions, then holds, each group in the given order.
 * Results are in the order of `ops`. Rejects if the transaction failed, in which case nothing was changed, or if the
 * response of the database was lost.
 */
export interface LedgerStore {
  apply(ops: readonly LedgerOp[]): Promise<LedgerResult[]>
  /** Absent on SQLite, where a hold needs no round trip and leases would save nothing. */
  readonly leases?: LeaseStore
}

/** A lease and its owner. */
export interface LeaseOfAccount {
  id: string
  userId: number
  tokenId: number
}

/** A request to take a lease. */
export interface LeaseRequest extends LeaseOfAccount {
  nodeId: string
  /** The share of the quota that is left, in percent. */
  share: number
  /** The maximum and the minimum number of units. */
  most: number
  least: number
}

/** The leases of this process. Only one batch at a time may contain operations that are paid from the same lease. */
export interface LeaseStore {
  /**
   * Resolves with the number of units taken; undefined if the share is less than `least`, or if the user or the token
   * does not exist.
   */
  take(request: LeaseRequest): Promise<number | undefined>
  /** Must be called after a lease was returned. */
  forget(id: string): void
}
