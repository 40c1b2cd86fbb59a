import type { HoldOp, LedgerOp, LedgerResult, LogRow, SettleOp } from '../schema/ledger-types.ts'
import { numbers, texts, toJson } from './parameters-postgres.ts'

// Simple batches, which `tollgate_quick` (migrations/quick-function.ts) can apply if no operation has to be refused.

/** A batch as the parameters of `tollgate_quick`, and its results if the function succeeds. */
export interface QuickBatch {
  values: (string | number | null)[]
  results: LedgerResult[]
  /** The number of calls that end, including those that are paid from a lease and have no row in `holds`. */
  ended: number
}

/** The amount that an operation takes from its lease. */
export function drawnBy(op: SettleOp | HoldOp): number {
  return op.kind === 'hold' ? op.amount : Math.min(op.held ?? 0, op.charge)
}

/** The changes that a batch makes to one user, token or channel. */
interface Sums {
  back: number
  need: number
  charged: number
  requests: number
  unlogged: number
  at: number
}

/**
 * Adds up the changes of a batch. Returns undefined if only `tollgate_batch` can apply the batch. That is so if it has
 * extensions, limits or caps, or if a charge exceeds its hold and the balance must not become negative.
 */
export function addUp(ops: readonly LedgerOp[]): QuickBatch | undefined {
  for (const op of ops) if (!isSimple(op)) return undefined
  const users = new Totals()
  const tokens = new Totals()
  const channels = new Totals()
  const settles: SettleOp[] = []
  const holds: HoldOp[] = []
  const results: LedgerResult[] = []
  for (const op of ops) {
    if (op.kind === 'settle') {
      settles.push(op)
      addSettle(op, users.of(op.userId), tokens.of(op.tokenId), op.channelId ? channels.of(op.channelId) : undefined)
      results.push({ charged: op.charge, found: true })
    } else {
      const hold = op as HoldOp
      holds.push(hold)
      if (hold.lease === undefined) {
        users.of(op.userId).need += hold.amount
        tokens.of(op.tokenId).need += hold.amount
      }
      results.push({ ok: true, amount: hold.amount })
    }
  }
  const values = [
    ...userValues(users),
    ...tokenValues(tokens),
    ...channelValues(channels),
    ...settleValues(settles),
    ...holdValues(holds),
  ]
  return { values, results, ended: settles.length }
}

/** True if `tollgate_quick` supports an operation. */
function isSimple(op: LedgerOp): boolean {
  if (op.kind === 'extend') return false
  if (op.kind === 'hold') return !op.limits && !op.caps && op.amount > 0 && op.minimum <= op.amount
  const { held, charge, mayGoNegative, limits, placedOn } = op
  return held !== undefined && !limits && !placedOn && (charge <= held || mayGoNegative)
}

function addSettle(op: SettleOp, user: Sums, token: Sums, channel: Sums | undefined): void {
  const { charge, requests, log, at } = op
  const held = op.lease === undefined ? (op.held ?? 0) : drawnBy(op)
  user.requests += requests
  for (const sums of [user, token, channel]) {
    if (!sums) continue
    sums.back += held - charge
    sums.charged += charge
    sums.unlogged += log ? 0 : charge
    sums.at = Math.max(sums.at, at)
  }
}

/**
 * The sums by the id of the user, token or channel. They are sorted by id, because the rows are locked in this order.
 */
class Totals {
  readonly #byId = new Map<number, Sums>()

  of(id: number): Sums {
    let sums = this.#byId.get(id)
    if (!sums) {
      sums = { back: 0, need: 0, charged: 0, requests: 0, unlogged: 0, at: 0 }
      this.#byId.set(id, sums)
    }
    return sums
  }

  /** The number of ids, the list of the ids, and a list for each of the named sums. */
  values(...names: (keyof Sums)[]): (string | number)[] {
    const ids = [...this.#byId.keys()].sort((one, other) => one - other)
    const sums = ids.map((id) => this.of(id))
    return [ids.length, numbers(ids), ...names.map((name) => numbers(sums.map((each) => each[name])))]
  }
}

const userValues = (users: Totals) => users.values('back', 'need', 'charged', 'requests', 'unlogged')
const tokenValues = (tokens: Totals) => tokens.values('back', 'need', 'charged', 'unlogged', 'at')
const channelValues = (channels: Totals) => channels.values('charged', 'unlogged')

function settleValues(settles: readonly SettleOp[]): (string | number | null)[] {
  const logs: LogRow[] = []
  const charges: number[] = []
  for (const { log, charge } of settles) {
    if (!log) continue
    logs.push(log)
    charges.push(charge)
  }
  const stored = settles.some(({ lease }) => lease !== undefined)
    ? settles.filter(({ lease }) => lease === undefined)
    : settles
  return [
    stored.length,
    texts(stored.map(({ id }) => id)),
    numbers(stored.map(({ held }) => held)),
    numbers(charges),
    logs.length > 0 ? toJson(logs) : null,
  ]
}

function holdValues(holds: readonly HoldOp[]): (string | number)[] {
  return [
    holds.length,
    texts(holds.map(({ id }) => id)),
    numbers(holds.map(({ userId }) => userId)),
    numbers(holds.map(({ tokenId }) => tokenId)),
    numbers(holds.map(({ amount }) => amount)),
    numbers(holds.map(({ crashCharge }) => crashCharge)),
    numbers(holds.map(({ crashRow }) => crashRow?.channelId)),
    numbers(holds.map(({ crashRow }) => crashRow?.promptTokens)),
    numbers(holds.map(({ crashRow }) => crashRow?.completionTokens)),
    texts(holds.map(({ nodeId }) => nodeId)),
    numbers(holds.map(({ createdAt }) => createdAt)),
    texts(holds.map(({ modelName }) => modelName)),
    texts(holds.map(({ requestId }) => requestId)),
  ]
}
