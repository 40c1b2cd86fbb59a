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
  /** The units that the lease had at first. */
  size: number
  /** The units that no call has taken. */
  free: number
  /** The number of calls whose draw the database has not confirmed yet. */
  pending: number
  isEnding: boolean
  usedAtMs: number
}

const retryDelaysMs = [20, 100, 500, 2_000]

/**
 * The units that a call takes from a lease. Its row in `holds` is written soon, and nobody waits for it. If the call
 * ends earlier, only its end is written.
 */
export class Draw {
  readonly lease: OpenLease
  readonly op: HoldOp
  readonly #batcher: Batcher
  readonly #confirmed: (isGone: boolean) => void
  readonly #written: Promise<boolean>
  #deferred: Deferred | undefined

  /**
   * `confirmed` is called once, when the database has recorded the units that the call has taken, even if there are
   * none. `isGone` is true if another process has returned the lease.
   */
  constructor(batcher: Batcher, lease: OpenLease, op: HoldOp, confirmed: (isGone: boolean) => void) {
    this.#batcher = batcher
    this.lease = lease
    this.op = op
    this.#confirmed = confirmed
    this.#written = this.#write()
  }

  /**
   * Resolves when the row is written. The result is false if the units are lost, because another process considered
   * this process dead and the account has nothing left.
   */
  stored(): Promise<boolean> {
    this.#deferred?.hurry()
    return this.#written
  }

  /**
   * Prevents the row from being written. Returns false if it is too late. If the result is true, `settled` must be
   * called.
   */
  withdraw(): boolean {
    return this.#deferred?.withdraw() ?? false
  }

  /** Records that the call has ended and how many of its units it used. */
  settled(used: number, isGone = false): void {
    this.lease.free += this.op.amount - used
    this.#confirmed(isGone)
  }

  /** Takes the units from the balance, because the lease is gone. Returns true if the balance had any. */
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
      // Only the first attempt can be withdrawn, because the row may exist after it.
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
