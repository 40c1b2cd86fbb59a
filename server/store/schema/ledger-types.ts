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
  /** The time of the process's clock, in epoch seconds. SQLite uses it. PostgreSQL uses its own clock. */
  at: number
}

/** The usage of a token or a user in the last minute: 60 whole seconds and the current one. */
export interface Minute {
  calls: number
  tokens: number
  /** Seconds until all of these calls, or all of these tokens, have left the last minute. */
  callsReset: number
  tokensReset: number
}

export type Minutes = Partial<Record<LimitOwner, Minute>>

/**
 * The values for the log row of a call if its process dies during the call. The call's crash charge is for these
 * tokens.
 */
export interface CrashRow {
  channelId: number
  promptTokens: number
  completionTokens: number
}

/** The place that a call needs on a channel with caps. A call that has a place is counted in the caps. */
export interface PlaceAsked {
  /** The name of the model in the request to the channel. It matters because caps can apply to some models only. */
  model: string
  /** The keyed hashes of the keys that the call may use, in order of preference; '' for the only key of a channel. */
  parts: readonly string[]
  /** Tokens reserved in the caps until the call ends. */
  tokens: number
  /**
   * The call needs at least this many units. The minimum matters because a cap of quota may leave fewer units than
   * requested.
   */
  least: number
  /**
   * If the channel is full, the call joins the line with this ticket; 0 = it has no ticket yet; absent = it does not
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
  /** If absent, the channel and the tokens are not known. */
  crashRow?: CrashRow | undefined
  /** Epoch seconds. */
  createdAt: number
  modelName: string
  requestId: string
  /**
   * If absent, no limit is in force and the call is not counted. `tokens` are reserved in the per-minute counts until
   * the call ends.
   */
  limits?: OpLimits & { tokens: number }
  /** If absent, the channel has no caps. `channelId` is then absent, too. */
  caps?: PlaceAsked
  channelId?: number
  /** The lease of this process from which the whole amount is taken. The call has no limits and no caps. */
  lease?: string | undefined
}

/**
 * Takes up to `amount` further units (at least `minimum`) for an open hold. With 0 units, it only updates the crash
 * charge.
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
  /** The limits of the call. Only the budgets among them are checked. */
  limits?: OpLimits
  /** Moves the call to `channelId`, where it needs this place. If that channel is full, nothing changes. */
  caps?: PlaceAsked
  channelId?: number
  /** True if the call moves to a channel without caps. This frees its place. */
  leaves?: true
  /** The channel on which the call has a place. */
  placedOn?: number
  /** Epoch seconds. It is set if `caps`, `leaves` or `placedOn` is. */
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
   * The row to write; undefined if there is nothing to log, or if logging is off. If logging is off, the charge counts
   * as unlogged.
   */
  log: LogRow | undefined
  /** Epoch seconds. */
  at: number
  /** The units held, according to the hold's owner. If the row in the store differs, the row is used. */
  held?: number
  /**
   * The cost of the call for the operator, in units, for the caps of its channel; absent = not known. The log row has
   * it, too.
   */
  cost?: number
  /** The tokens that a call with limits used. They replace its reservation; absent = the reservation stays. */
  tokens?: number
  /**
   * The limits of the call. Only the budgets among them are checked, so that a charge above the hold never exceeds a
   * budget.
   */
  limits?: OpLimits
  /** The channel on which the call has a place. */
  placedOn?: number
  /**
   * The lease of this process that pays for the call, which has no row in `holds` yet. Either the charge is at most
   * `held`, or the call may take a balance below zero.
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
       * The owner whose balance or budget was insufficient. `gone` means that the account or the hold does not exist
       * (any more).
       */
      reason: 'user' | 'token' | 'gone'
      /** Units that were available in that balance or budget. */
      available: number
      /** True if other holds are open on that account. More units may then come back soon. */
      othersOpen: boolean
      /** Units charged to that account so far. The number rises whenever a call is settled, on any node. */
      used: number
      /** Set if this budget, and not the balance, was insufficient. It starts again in `retryAfter` seconds. */
      budget?: 'daily' | 'monthly'
      retryAfter?: number
      /** True if processes have leases on that account. They return the leases on request. */
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
  /** True if other open calls may give room back earlier. */
  othersOpen: boolean
  /** True if the call asks for more than the cap allows at all, so that waiting does not help. */
  never: boolean
  /** The call's ticket, if it joined the line. */
  ticket?: number
}

export interface SettleResult {
  /**
   * Units charged. They are below the requested charge only in strict mode, if the balance could not cover the excess.
   */
  charged: number
  /** False if another process had already closed the hold. In that case, nothing was done. */
  found: boolean
  /** True if the lease that should pay is gone, because another process considered this process dead. */
  leaseGone?: boolean
}

export type LedgerResult = TakeResult | SettleResult

/**
 * Applies a batch in one transaction: settles first, then extensions, then holds, each group in the given order.
 * Results are in the order of `ops`. Rejects if the transaction failed. In that case, nothing was done.
 */
export interface LedgerStore {
  apply(ops: readonly LedgerOp[]): Promise<LedgerResult[]>
  /** Absent on SQLite, where a hold costs no round trip. */
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

/** The leases of this process. Operations that name one of them must come in one batch at a time. */
export interface LeaseStore {
  /** Resolves with the number of units taken; undefined if the share is too small. */
  take(request: LeaseRequest): Promise<number | undefined>
  /** Must be called after a lease was returned. */
  forget(id: string): void
}
