import type { RelayDeps } from '../call/deps.ts'
import type { DeadlineWait } from '../cancellation/deadline-watch.ts'
import type { OpenCall } from '../charging/settlement.ts'
import { describeFault } from '../failures/describe-fault.ts'

/** A step of an answer's body. */
export type Step = IteratorResult<Uint8Array>

export const atEnd: Step = { done: true, value: undefined }
export const never = Number.POSITIVE_INFINITY

/**
 * The body of an answer that owns the hold of its call: it watches the caller, and settles once, however it ends. An
 * iterator object rather than a generator, because a generator that is dropped before its first step never runs its
 * `finally`.
 */
export abstract class AnswerBody<Settled> implements AsyncIterableIterator<Uint8Array>, DeadlineWait {
  /** Due when the caller has not read for too long: the rest would be kept for nobody. */
  dueAtMs = never
  place: number | undefined
  protected readonly deps: RelayDeps
  protected readonly open: OpenCall
  protected hasEnded = false
  /** Milliseconds from the start of the call to the first byte for the caller; 0 = none yet. */
  protected firstByteMs = 0
  /** Ended because the caller did not read; it must not take what it received for the whole answer. */
  #isCut = false
  /** Set once settling begins; the end of the answer is sent after it. */
  #settling: Promise<Settled> | undefined

  constructor(deps: RelayDeps, open: OpenCall) {
    this.deps = deps
    this.open = open
  }

  /** Begins to watch the caller; the last step of a constructor. */
  protected watchCaller(): void {
    this.deps.deadlineWatch.add(this)
    // The runtime does not call `return` on a body that it never began to read.
    this.open.call.leaving.onLeave(() => this.leave())
  }

  abstract next(): Promise<Step>

  /** Ends the call of a caller who has left, and settles it. */
  protected abstract giveUp(): Promise<unknown>

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The caller has not read for too long. */
  due(): void {
    this.dueAtMs = never
    if (!this.hasEnded) this.#isCut = true
    this.leave()
  }

  /** Nobody awaits this, so a failure is logged here. */
  protected leave(): void {
    this.return().catch(this.warn)
  }

  /** The runtime calls this when the caller has left, and after the end. */
  async return(): Promise<Step> {
    if (!this.hasEnded) {
      this.hasEnded = true
      await this.giveUp()
    }
    await this.#settling
    return atEnd
  }

  /** The step after the last piece. A body that breaks off is the only sign left for a caller who reads on after all. */
  protected end(): Step | Promise<Step> {
    return this.#isCut ? brokenOff() : atEnd
  }

  /** Settles the call, once. */
  protected settle(work: () => Promise<Settled>): Promise<Settled> {
    this.#settling ??= work()
    return this.#settling
  }

  /** The call is over: neither the caller nor the time is watched any more. */
  protected letGo(): void {
    this.open.call.leaving.close()
    this.deps.deadlineWatch.remove(this)
  }

  /** To be called before the first bytes are sent. */
  protected begin(): void {
    if (this.firstByteMs > 0) return
    this.firstByteMs = Math.max(1, this.deps.clock.nowMs() - this.open.call.startedAtMs)
  }

  protected readonly warn = (fault: unknown): void => {
    this.deps.events.warning(`${this.open.call.requestId}: ${describeFault(fault)}`)
  }
}

/** Breaks the answer off. The runtime prints whatever error it is given here, with its stack. */
export function brokenOff(): Promise<never> {
  return Promise.reject(undefined)
}

/** The time by which the caller must ask for the next piece of its answer, in milliseconds of the deadline clock. */
export function unreadLimit({ deadlineWatch, settings }: RelayDeps): number {
  const limitMs = settings().CallerIdleTimeout * 1000
  return limitMs > 0 ? deadlineWatch.nowMs() + limitMs : Number.POSITIVE_INFINITY
}
