import type { Insertable } from 'kysely'
import type { Limits } from '../../../contract/limits.ts'
import type { LogsTable } from './tables.ts'

/** A log row as the ledger writes it; the ledger sets `quota` to the amount actually charged. */
export type LogRow = Omit<Insertable<LogsTable>, 'id' | 'quota'>

/** The owner of a limit. */
export type LimitOwner = 'token' | 'user'

/** The limits of a call: its token's own, and those of its user. */
export interface OpLimits {
  token?: Limits | undefined
  user?: Limits | undefined
  /** Epoch seconds by the process's clock, which SQLite uses; PostgreSQL has its own. */
  at: number
}

/** What a token or a user did in the last minute: 60 whole seconds and the current one. */
export interface Minute {
  calls: number
  tokens: number
  /** Seconds until all of these calls, or all of these tokens, have left it. */
  callsReset: number
  tokensReset: number
}

export type Minutes = Partial<Record<LimitOwner, Minute>>

/** What the log says of a call that dies with its process; its crash charge is for these tokens. */
export interface CrashRow {
  channelId: number
  promptTokens: number
  completionTokens: number
}

/** Takes `amount` units of user and token, or less, but at least `minimum`. */
export interface HoldOp {
  kind: 'hold'
  id: string
  userId: number
  tokenId: number
  /** Wanted units. */
  amount: number
  /** The least that is useful; if less is available, the hold is refused. */
  minimum: number
  /** What the call costs if this process dies before settling. */
  crashCharge: number
  nodeId: string
  /** Default: nothing is known. */
  crashRow?: CrashRow | undefined
  /** Epoch seconds. */
  createdAt: number
  modelName: string
  requestId: string
  /** Default: no limit is in force, and the call is not counted. `tokens` are reserved in the minute until it ends. */
  limits?: OpLimits & { tokens: number }
}

/**
 * Takes up to `amount` further units (at least `minimum`) for an open hold; with 0 it only records what the call costs
 * if the process dies.
 */
export interface ExtendOp {
  kind: 'extend'
  id: string
  userId: number
  tokenId: number
  amount: number
  minimum: number
  crashCharge: number
  /** Default: unchanged. */
  crashRow?: CrashRow | undefined
  /** Only the budgets count. */
  limits?: OpLimits
}

/** Ends a hold: charges `charge`, gives the rest back, writes the log row; a release is a settle with charge 0. */
export interface SettleOp {
  kind: 'settle'
  id: string
  userId: number
  tokenId: number
  channelId: number
  charge: number
  /** Whether a charge above the hold may take a balance below zero (QuotaPolicy=compat). */
  mayGoNegative: boolean
  /** 1 if the call counts as a request, otherwise 0. */
  requests: 0 | 1
  /** The row to write, or undefined: nothing to log, or logging is off (then the charge counts as unlogged). */
  log: LogRow | undefined
  /** Epoch seconds. */
  at: number
  /** Units held, as the hold's owner knows it; if the store's own row differs, the row decides. */
  held?: number
  /** What a call with limits used; replaces the reservation. Default: the reservation stays. */
  tokens?: number
  /** Only the budgets count: a charge above the hold never exceeds them. */
  limits?: OpLimits
}

export type LedgerOp = HoldOp | ExtendOp | SettleOp

/**
 * Outcome of a hold or an extension. `minutes`: for a hold with limits, those of each owner that has a limit per
 * minute.
 */
export type TakeResult = { minutes?: Minutes } & (
  | { ok: true; amount: number }
  | {
      ok: false
      /** Whose balance or budget was insufficient. `gone`: the account or the hold does not exist (any more). */
      reason: 'user' | 'token' | 'gone'
      /** Units that were available in it. */
      available: number
      /** Other holds are open on that account, so more may come back soon. */
      othersOpen: boolean
      /** Units charged to it so far; rises whenever a call is settled, on whichever node. */
      used: number
      /** This budget, not the balance, was insufficient; it starts again in `retryAfter` seconds. */
      budget?: 'daily' | 'monthly'
      retryAfter?: number
    }
  | LimitReached
)

/** A hold that would exceed a limit: nothing is taken, and the call is not counted. */
export interface LimitReached {
  ok: false
  reason: 'limit'
  limit: 'requests' | 'tokens' | 'concurrency'
  owner: LimitOwner
  /** The limit. */
  most: number
  /** Seconds until there may be room. */
  retryAfter: number
}

export interface SettleResult {
  /** Units charged; below the request only in strict mode if the balance could not cover the excess. */
  charged: number
  /** False if somebody else had already closed the hold; then nothing was done. */
  found: boolean
}

export type LedgerResult = TakeResult | SettleResult

/**
 * Applies a batch in one transaction: settles first, then extensions, then holds, each group in the order given.
 * Results come in the order of `ops`. Rejects if the transaction failed; then nothing was done.
 */
export interface LedgerStore {
  apply(ops: readonly LedgerOp[]): Promise<LedgerResult[]>
}
