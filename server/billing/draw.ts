import type { HoldOp, TakeResult } from '../store/schema/ledger-types.ts'
import { isRefusal } from '../store/statements/without-effect.ts'
import type { Batcher, Deferred } from './batcher.ts'

/**
 * A lease of this process: a part of a balance that is taken in advance, so that calls need not wait for the database.
 */
export interface OpenLease {
  id: string
  userId: number
  tokenId: number
  /** The number of units when the lease was taken. */
  size: number
  /** The units that are not taken by a call. */
  free: number
  /** The number of calls whose draw (the units taken from this lease) the database has not confirmed yet. */
  pending: number
  isEnding: boolean
  usedAtMs: number
}

const retryDelaysMs = [20, 100, 500, 2_000]

/**
 * A draw is the units that one call takes from a lease. The call's row in `holds` is written in the background. If the
 * call ends before the row is written, only the end of the call is written.
 */
export class Draw {
  readonly lease: OpenLease
  readonly op: HoldOp
  readonly #batcher: Batcher
  readonly #confirmed: (isGone: boolean) => void
  readonly #written: Promise<boolean>
  #deferred: Deferred | undefined

  /**
   * `confirmed` is called once, when the database has recorded how many units the call has taken, even if the number is
   * 0. `isGone` is true if another process has returned the lease.
   */
  constructor(batcher: Batcher, lease: OpenLease, op: HoldOp, confirmed: (isGone: boolean) => void) {
    this.#batcher = batcher
    this.lease = lease
    this.op = op
    this.#confirmed = confirmed
    this.#written = this.#write()
  }

  /**
   * Resolves when the row is written. Resolves with false if the call has no units: another process considered this
   * process dead and returned the lease, and the account has no quota left.
   */
  stored(): Promise<boolean> {
    this.#deferred?.hurry()
    return this.#written
  }

  /**
   * Prevents the row from being written. Returns false if the database may already have it. If the result is true, the
   * caller must call `settled`.
   */
  withdraw(): boolean {
    return this.#deferred?.withdraw() ?? false
  }

  /** Records that the call has ended and how many of its units it used. */
  settled(used: number, isGone = false): void {
    this.lease.free += this.op.amount - used
    this.#confirmed(isGone)
  }

  /** Takes the units from the balance, because the lease is gone. Returns false if the balance is empty. */
  async takeFromBalance(): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      try {
        const op = { ...this.op, lease: undefined, minimum: 1 }
        return ((await this.#batcher.push(op)) as TakeResult).ok
      } catch (error) {
        // A refusal means that an earlier attempt has taken the units, and that its response was lost.
        if (isRefusal(error)) return true
        await delay(attempt)
      }
    }
  }

  async #write(): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      // Only the first attempt can be withdrawn. If it fails, the row may exist nevertheless.
      const deferred = this.#batcher.defer(this.op)
      this.#deferred = attempt === 0 ? deferred : undefined
      try {
        const result = await deferred.done
        if (!result) return true
        this.#deferred = undefined
        const isInLease = (result as TakeResult).ok
        const isStored = isInLease || (await this.takeFromBalance())
        this.#confirmed(!isInLease)
        return isStored
      } catch (error) {
        this.#deferred = undefined
        if (isRefusal(error)) {
          this.settled(0)
          return false
        }
        await delay(attempt)
      }
    }
  }
}

function delay(attempt: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, retryDelaysMs[Math.min(attempt, retryDelaysMs.length - 1)]))
}
