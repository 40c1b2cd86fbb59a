import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { SettleOp, SettleResult } from '../store/schema/ledger-types.ts'
import { isRefusal, isWithoutEffect } from '../store/statements/without-effect.ts'
import type { Batcher } from './batcher.ts'

/** The dependencies of settling. */
export interface SettleDeps {
  batcher: Batcher
  clock: Clock
  /** Called when a settle is postponed because the database failed. The settle is retried until it succeeds. */
  onSettleRetry(error: unknown): void
  /** Called when a call ends but its hold is already closed, because another process considered this process dead. */
  onHoldLost(holdId: string, charge: number): void
  /** Called when a charge was written without its log row, because the database rejected the row. */
  onRowRefused(requestId: string, charge: number): void
  /** The log rows of a call, for a charge whose database response was lost. */
  rowsOf(requestId: string): Promise<readonly { content: string; quota: number }[]>
}

/** The owner of a hold. `placedOn` is the channel on which the call counts towards caps; absent if there is none. */
interface Owner {
  userId: number
  tokenId: number
  placedOn?: number
}

const settleRetryDelaysMs = [50, 200, 1000, 3000, 5000]

/** Ends a hold without a charge and without counting a request. */
export function releaseOp(deps: SettleDeps, id: string, account: Owner): SettleOp {
  return { ...settleOp(deps, id, account), requests: 0, tokens: 0 }
}

/** Ends a hold without a charge, but counts a request. */
export function settleOp(deps: SettleDeps, id: string, account: Owner): SettleOp {
  const op: SettleOp = {
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
  if (account.placedOn) op.placedOn = account.placedOn
  return op
}

/**
 * Settles a hold, and retries until the database accepts the operation. The hold's row ensures that it takes effect
 * only once. If the database rejects the operation because of its content, it is tried once more without the log row.
 * If the second attempt is rejected, too, the sweep (`sweep-holds.ts`) must close the hold, and the result is
 * undefined. If the lease that pays for the call is gone, nothing is charged, and the result has `leaseGone`.
 */
export async function settleUntilDone(deps: SettleDeps, op: SettleOp): Promise<SettleResult | undefined> {
  let withLog = op.log !== undefined
  let mayBeDone = false
  for (let attempt = 0; ; attempt++) {
    try {
      const result = (await deps.batcher.push(withLog ? op : { ...op, log: undefined })) as SettleResult
      if (result.found && op.log && !withLog) deps.onRowRefused(op.log.request_id ?? '', result.charged)
      if (result.found || (op.charge === 0 && !result.leaseGone)) return result
      // This process may have closed the hold itself, if an earlier attempt succeeded and only its response was lost.
      const written = mayBeDone ? await ownCharge(deps, op) : 'none'
      if (typeof written === 'number') return { charged: written, found: true }
      if (written === 'none' && result.leaseGone) return result
      if (written === 'none') deps.onHoldLost(op.id, op.charge)
      return { charged: result.charged, found: false }
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
 * The charge of an earlier attempt, according to the log row that it wrote. The result is `none` if there is no such
 * row. It is `unknown` if the settle writes no log row, or if the rows cannot be read.
 */
async function ownCharge(deps: SettleDeps, { log }: SettleOp): Promise<number | 'none' | 'unknown'> {
  if (!log?.request_id) return 'unknown'
  try {
    const rows = await deps.rowsOf(log.request_id)
    // If another process closed the hold as abandoned, its log row has a different text.
    return rows.find(({ content }) => content.startsWith(log.content ?? ''))?.quota ?? 'none'
  } catch {
    return 'unknown'
  }
}
