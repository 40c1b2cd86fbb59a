import type { HoldOp, LedgerOp, LedgerResult, SettleOp } from '../schema/ledger-types.ts'
import { type LeasedBatch, type LeasedOp, namesLease } from './lease-book-postgres.ts'
import { numbers, texts } from './parameters-postgres.ts'
import { drawnBy } from './quick-batch-postgres.ts'

/** A batch, divided into the parameters of `tollgate_mixed`. */
interface MixedBatch {
  /** The parameters that come before those of `tollgate_batch`. */
  before: string[]
  /** The operations that `tollgate_batch` applies. */
  others: LedgerOp[]
  /** Builds the results of the whole batch from the results of `others`. */
  merge(results: readonly LedgerResult[]): LedgerResult[]
}

/**
 * Divides a batch for `tollgate_mixed`. The function first writes a row in `holds` for each call that is paid from a
 * lease, even if the call ends in the same batch. `tollgate_batch` then applies all other operations, including the
 * settles of these calls.
 */
export function packMixed(ops: readonly LedgerOp[], leases: LeasedBatch): MixedBatch {
  const drawing = ops.filter(namesLease)
  const isDraw = (op: LedgerOp) => op.kind === 'hold' && op.lease !== undefined
  return {
    before: [...leases.values, ...drawValues(drawing)],
    others: ops.filter((op) => !isDraw(op)),
    merge(results) {
      let at = 0
      return ops.map((op) =>
        isDraw(op) ? { ok: true, amount: (op as HoldOp).amount } : (results[at++] as LedgerResult),
      )
    },
  }
}

function drawValues(ops: readonly LeasedOp[]): string[] {
  const ofHold = <T>(op: LeasedOp, pick: (hold: HoldOp) => T, otherwise: (settle: SettleOp) => T) =>
    op.kind === 'hold' ? pick(op) : otherwise(op)
  const list = (pick: (hold: HoldOp) => number | undefined, otherwise: (settle: SettleOp) => number | undefined) =>
    numbers(ops.map((op) => ofHold(op, pick, otherwise)))
  const none = () => undefined
  return [
    texts(ops.map(({ lease }) => lease)),
    texts(ops.map(({ id }) => id)),
    numbers(ops.map(drawnBy)),
    list(
      ({ crashCharge }) => crashCharge,
      () => 0,
    ),
    list(({ crashRow }) => crashRow?.channelId, none),
    list(({ crashRow }) => crashRow?.promptTokens, none),
    list(({ crashRow }) => crashRow?.completionTokens, none),
    list(
      ({ createdAt }) => createdAt,
      ({ at }) => at,
    ),
    texts(
      ops.map((op) =>
        ofHold(
          op,
          ({ modelName }) => modelName,
          () => '',
        ),
      ),
    ),
    texts(
      ops.map((op) =>
        ofHold(
          op,
          ({ requestId }) => requestId,
          () => '',
        ),
      ),
    ),
  ]
}
