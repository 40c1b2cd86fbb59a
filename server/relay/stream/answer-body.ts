import { describeFault } from '../../errors.ts'
import type { RelayDeps } from '../call/deps.ts'
import type { DeadlineWait } from '../cancellation/deadline-watch.ts'
import type { OpenCall } from '../charging/settlement.ts'

/** One step of reading a response body. */
export type Step = IteratorResult<Uint8Array>

export const atEnd: Step = { done: true, value: undefined }
export const never = Number.POSITIVE_INFINITY

/**
 * A response body that owns the hold of its call. It detects that the caller disconnects or does not read. It settles
 * the call exactly once, however the response ends. It is an iterator object and not a generator, because a generator
 * that is dropped before its first step never runs its `finally`.
 */
export abstract class AnswerBody<Settled> implements AsyncIterableIterator<Uint8Array>, DeadlineWait {
  /** The time at which the response is ended because the caller has not read for too long. */
  dueAtMs = never
  watchIndex: number | undefined
  protected readonly deps: RelayDeps
  protected open: OpenCall
  protected hasEnded = false
  /** Milliseconds from the start of the call to the first byte for the caller; 0 = no byte has been sent. */
  protected firstByteMs = 0
  /**
   * True if the response was ended because the caller did not read for too long. The response must then not appear
   * complete.
   */
  #isCut = false
  /** Set when settling begins. The end of the response is sent only after the call has been settled. */
  #settling: Promise<Settled> | undefined

  constructor(deps: RelayDeps, open: OpenCall) {
    this.deps = deps
    this.open = open
  }

  /** Begins to detect that the caller disconnects or does not read. Must be the last step of a constructor. */
  protected watchCaller(): void {
    this.deps.deadlineWatch.add(this)
    // The runtime does not call `return` on a body that it has not begun to read, so a disconnect must be handled here.
    this.open.call.leaving.onLeave(() => this.leave())
  }

  abstract next(): Promise<Step>

  /** Ends the call after its caller has disconnected, and settles it. */
  protected abstract giveUp(): Promise<unknown>

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Called when the caller has not read for too long. */
  due(): void {
    this.dueAtMs = never
    if (!this.hasEnded) this.#isCut = true
    this.leave()
  }

  /** Ends the response after its caller has disconnected. No code awaits this, so a failure is logged here. */
  protected leave(): void {
    this.return().catch(this.warn)
  }

  /** The runtime calls this when the caller has disconnected, and after the body has ended. */
  async return(): Promise<Step> {
    if (!this.hasEnded) {
      this.hasEnded = true
      await this.giveUp()
    }
    await this.#settling
    return atEnd
  }

  /**
   * The step after the last piece. If the response was ended because the caller did not read for too long, the body
   * breaks off. If the caller reads again later, this is the only sign that the response is incomplete.
   */
  protected end(): Step | Promise<Step> {
    return this.#isCut ? brokenOff() : atEnd
  }

  /** Settles the call. Later calls of this method return the result of the first. */
  protected settle(work: () => Promise<Settled>): Promise<Settled> {
    this.#settling ??= work()
    return this.#settling
  }

  /** Stops detecting disconnects and timeouts, because the call is over. */
  protected letGo(): void {
    this.open.call.leaving.close()
    this.deps.deadlineWatch.remove(this)
  }

  /** Must be called before the first bytes are sent. */
  protected begin(): void {
    if (this.firstByteMs > 0) return
    this.firstByteMs = Math.max(1, this.deps.clock.nowMs() - this.open.call.startedAtMs)
  }

  protected readonly warn = (fault: unknown): void => {
    this.deps.events.warning(`${this.open.call.requestId}: ${describeFault(fault)}`)
  }
}

/**
 * Breaks off the response. The promise is rejected with undefined, because the runtime would print an error and its
 * stack.
 */
export function brokenOff(): Promise<never> {
  return Promise.reject(undefined)
}

/** The time by which the caller must read the next piece of its response, in milliseconds on the deadline clock. */
export function unreadLimit({ deadlineWatch, settings }: RelayDeps): number {
  const limitMs = settings().CallerIdleTimeout * 1000
  return limitMs > 0 ? deadlineWatch.nowMs() + limitMs : Number.POSITIVE_INFINITY
}
