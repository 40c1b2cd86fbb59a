import type pg from 'pg'
import type { HoldOp, LedgerOp, LedgerResult, SettleOp } from '../schema/ledger-types.ts'
import { numbers, texts } from './parameters-postgres.ts'
import { drawnBy } from './quick-batch-postgres.ts'

/** A hold or settle that is paid from a lease. A lease is a part of a balance that a process has taken in advance. */
export type LeasedOp = (HoldOp | SettleOp) & { lease: string }

/** True if an operation is paid from a lease. */
export function namesLease(op: LedgerOp): op is LeasedOp {
  return op.kind !== 'extend' && op.lease !== undefined
}

interface Draw {
  /** The version that the batch expects the lease to have. */
  version: number
  drawn: number
  /** The kinds and ids of the operations that are paid from the lease. */
  keys: string[]
}

const keyOf = ({ kind, id }: LedgerOp) => `${kind} ${id}`

/** The amounts that a batch takes from leases. */
export class LeasedBatch {
  readonly draws = new Map<string, Draw>()

  get isEmpty(): boolean {
    return this.draws.size === 0
  }

  /** The parameters of the functions: the leases, their versions, and the amount taken from each. */
  get values(): string[] {
    const draws = [...this.draws.values()]
    return [
      texts([...this.draws.keys()]),
      numbers(draws.map(({ version }) => version)),
      numbers(draws.map(({ drawn }) => drawn)),
    ]
  }

  clear(): void {
    this.draws.clear()
  }
}

/**
 * The versions of this process's leases. A batch contains the version that it expects each of its leases to have, and
 * raises the version by one. A batch that arrives after a later batch therefore fails, and the version shows whether a
 * batch took effect. Without the version, a second attempt to write a call that is paid from a lease and ends within
 * one batch could not be recognized, because the call has no row in `holds`.
 */
export class LeaseBook {
  readonly #pool: pg.Pool
  readonly #versions = new Map<string, number>()
  /**
   * The draws (units taken from a lease) of batches that may or may not have taken effect, because the response of the
   * database was lost.
   */
  readonly #doubtful = new Map<string, Draw>()
  /** Operations that took effect although their batch seemed to fail. They will be tried again. */
  readonly #done = new Set<string>()

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /**
   * False until the first lease is taken. Until then, batches need not be searched for operations that are paid from
   * leases.
   */
  get isUsed(): boolean {
    return this.#versions.size > 0 || this.#isEverUsed
  }
  #isEverUsed = false

  /** Adds a lease that was just taken. */
  add(id: string): void {
    this.#isEverUsed = true
    this.#versions.set(id, 1)
  }

  /** Removes a lease that was returned. */
  remove(id: string): void {
    this.#versions.delete(id)
    this.#doubtful.delete(id)
  }

  /**
   * For each lease of these operations, finds out whether an earlier batch whose response was lost took effect. If it
   * has not taken effect by now, it never will. Rejects if the database cannot be reached.
   */
  async resolve(ops: readonly LedgerOp[]): Promise<void> {
    if (this.#doubtful.size === 0) return
    for (const op of ops) {
      const draw = namesLease(op) && this.#doubtful.get(op.lease)
      if (draw) await this.#resolve(op.lease, draw)
    }
  }

  async #resolve(id: string, { version, keys }: Draw): Promise<void> {
    // If the batch has not raised the version yet, raise it by two, so that the batch fails if it still arrives. A
    // version that is higher by one shows that the batch took effect.
    await this.#pool.query('update leases set version = version + 2 where id = $1 and version = $2', [id, version])
    const { rows } = await this.#pool.query<{ version: string }>('select version from leases where id = $1', [id])
    const now = rows[0] && Number(rows[0].version)
    this.#doubtful.delete(id)
    if (now === version + 1) for (const key of keys) this.#done.add(key)
    if (now === undefined) this.#versions.delete(id)
    else this.#versions.set(id, now)
  }

  /**
   * The results of operations that need not be applied, because they took effect earlier or their lease is gone. `open`
   * contains the indexes of the other operations.
   */
  answer(ops: readonly LedgerOp[]): { results: LedgerResult[]; open: number[] } {
    const results = new Array<LedgerResult>(ops.length)
    const open: number[] = []
    for (const [at, op] of ops.entries()) {
      const result = namesLease(op) ? this.#answerTo(op) : undefined
      if (result) results[at] = result
      else open.push(at)
    }
    return { results, open }
  }

  #answerTo(op: LeasedOp): LedgerResult | undefined {
    if (this.#done.has(keyOf(op))) {
      return op.kind === 'hold' ? { ok: true, amount: op.amount } : { charged: op.charge, found: true }
    }
    if (this.#versions.has(op.lease)) return undefined
    if (op.kind === 'settle') return { charged: 0, found: false, leaseGone: true }
    return { ok: false, reason: 'gone', available: 0, othersOpen: false, used: 0 }
  }

  /** Records that the results of a batch were delivered. None of its operations will be tried again. */
  delivered(ops: readonly LedgerOp[]): void {
    if (this.#done.size === 0) return
    for (const op of ops) this.#done.delete(keyOf(op))
  }

  /** Adds up the amounts that a batch takes from each lease. All of its leases must be known. */
  batchOf(ops: readonly LedgerOp[]): LeasedBatch {
    const batch = new LeasedBatch()
    for (const op of ops) {
      if (!namesLease(op)) continue
      let draw = batch.draws.get(op.lease)
      if (!draw) {
        draw = { version: this.#versions.get(op.lease) ?? 0, drawn: 0, keys: [] }
        batch.draws.set(op.lease, draw)
      }
      draw.drawn += drawnBy(op)
      draw.keys.push(keyOf(op))
    }
    return batch
  }

  /** Records that a batch took effect. */
  applied({ draws }: LeasedBatch): void {
    for (const [id, { version }] of draws) this.#versions.set(id, version + 1)
  }

  /** Records that it is not known whether a batch took effect. */
  doubt({ draws }: LeasedBatch): void {
    for (const [id, draw] of draws) this.#doubtful.set(id, draw)
  }

  /**
   * After the database has rejected a batch because of a lease, removes the batch's leases that no longer exist, have
   * another version or are too small. Returns false if there are none.
   */
  async dropGone({ draws }: LeasedBatch): Promise<boolean> {
    const { rows } = await this.#pool.query<{ id: string; version: string; amount: string }>(
      'select id, version, amount from leases where id = any($1)',
      [[...draws.keys()]],
    )
    let dropped = false
    for (const [id, { version, drawn }] of draws) {
      const row = rows.find((each) => each.id === id)
      if (row && Number(row.version) === version && Number(row.amount) >= drawn) continue
      this.remove(id)
      dropped = true
    }
    return dropped
  }
}
