import type { Insertable } from 'kysely'
import type { LogsTable } from './tables.ts'

/** A log row as the ledger writes it; `quota` is filled in by the ledger with what was really charged. */
export type LogRow = Omit<Insertable<LogsTable>, 'id' | 'quota'>

/** Takes `amount` units of user and token, or less but at least `minimum`. */
export interface HoldOp {
  kind: 'hold'
  id: string
  userId: number
  tokenId: number
  /** Wanted units. */
  amount: number
  /** The least that is of use; fewer available → refused. */
  minimum: number
  /** What the call costs if this process dies before settling. */
  crashCharge: number
  nodeId: string
  /** Epoch seconds. */
  createdAt: number
  modelName: string
  requestId: string
}

/** Takes up to `amount` further units (at least `minimum`) for an open hold. */
export interface ExtendOp {
  kind: 'extend'
  id: string
  userId: number
  tokenId: number
  amount: number
  minimum: number
  crashCharge: number
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
  /** 1 when the call counts as a request, else 0. */
  requests: 0 | 1
  /** The row to write, or undefined: nothing to log, or logging is off (then the charge counts as unlogged). */
  log: LogRow | undefined
  /** Epoch seconds. */
  at: number
}

export type LedgerOp = HoldOp | ExtendOp | SettleOp

/** Outcome of a hold or an extension. */
export type TakeResult =
  | { ok: true; amount: number }
  | {
      ok: false
      /** Whose balance did not suffice. `gone`: the account or the hold does not exist (any more). */
      reason: 'user' | 'token' | 'gone'
      /** Units that were available there. */
      available: number
      /** Other holds are open on that account, so more may come back soon. */
      othersOpen: boolean
      /** Units charged there so far: it rises whenever a call is settled, on whichever node. */
      used: number
    }

export interface SettleResult {
  /** Units charged; below the request only in strict mode when the balance could not cover the excess. */
  charged: number
  /** False when the hold was already closed by somebody else: then nothing was done. */
  found: boolean
}

export type LedgerResult = TakeResult | SettleResult

/**
 * Applies a batch in one transaction: settles first, then extensions, then holds, each group in the order given.
 * Results come in the order of `ops`. Rejects when the transaction failed; then nothing was done.
 */
export interface LedgerStore {
  apply(ops: readonly LedgerOp[]): Promise<LedgerResult[]>
}
