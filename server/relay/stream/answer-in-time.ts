import type { RelayCall } from '../call/call.ts'
import type { DeadlineWait, DeadlineWatch } from '../cancellation/deadline-watch.ts'
import { droppedHeader, droppedNames } from '../headers/dropped-header.ts'
import { streamHeaders } from '../headers/relay-headers.ts'
import { atEnd, type Step } from './answer-body.ts'
import { keepAliveFor } from './keep-alive.ts'

/** A stream that has been requested from an upstream. */
export interface Asking {
  call: RelayCall
  watch: DeadlineWatch
  /** The interval of keep-alives, in milliseconds. */
  everyMs: number
  /** The response, once the upstream has begun it. */
  answering: Promise<Response>
  /** Records a failure that occurs after the head has been sent, and returns the last events of the stream. */
  failed(error: unknown): Promise<string>
}

/**
 * Returns the response for a stream. If the upstream is slow to begin, the head and keep-alives are sent first. Other
 * channels can still be tried after the head has been sent. Rejects with the same error as `answering`, unless the head
 * has already been sent.
 */
export function answerInTime(asking: Asking): Promise<Response> {
  return new Promise((resolve, reject) => {
    const early = new EarlyAnswer(asking, resolve)
    asking.answering.then(
      (response) => (early.hasBegun ? early.goOn(response) : early.leaveTo(() => resolve(response))),
      (error: unknown) => (early.hasBegun ? early.fail(error) : early.leaveTo(() => reject(error))),
    )
  })
}

const encoder = new TextEncoder()

/** The methods of a stream reader that are used here. */
interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

/** A response body that can begin before the upstream's response does. It does not own the hold of the call. */
class EarlyAnswer implements AsyncIterableIterator<Uint8Array>, DeadlineWait {
  dueAtMs: number
  watchIndex: number | undefined
  hasBegun = false
  readonly #asking: Asking
  readonly #begin: (response: Response) => void
  /** The reader of the response that follows the keep-alives. */
  #reader: BodyReader | undefined
  /** The last piece to send after the keep-alives if there is no response. */
  #last: (() => Promise<Step>) | undefined
  #hasEnded = false
  /** Resolves the pending `next`. */
  #resolve: ((step: Step | Promise<Step>) => void) | undefined
  /** True until the first keep-alive has been sent, which is sent together with the head. */
  #owesFirst = true

  constructor(asking: Asking, begin: (response: Response) => void) {
    this.#asking = asking
    this.#begin = begin
    this.dueAtMs = asking.watch.nowMs() + asking.everyMs
    asking.watch.add(this)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Called when nothing has arrived for `everyMs`. */
  due(): void {
    const { call, watch, everyMs } = this.#asking
    // Do not send the head before quota is held. If the quota is too low, the response has an error status. The head
    // also contains the remaining limits, which are known only after the hold.
    if (!call.state.isHeld || call.signal.aborted) return
    this.dueAtMs = watch.nowMs() + everyMs
    this.#give({ done: false, value: keepAliveFor(call.dialect) })
    if (this.hasBegun) return
    this.hasBegun = true
    const headers = streamHeaders(new Headers(), call, '')
    const { dropped = [] } = call.state
    if (dropped.length > 0) headers[droppedHeader] = droppedNames(dropped)
    this.#begin(new Response(this as unknown as ReadableStream, { status: 200, headers }))
  }

  /** Called when the response arrives before a keep-alive is due. */
  leaveTo(settle: () => void): void {
    this.#asking.watch.remove(this)
    settle()
  }

  /** Called when the response arrives after its head has been sent. */
  goOn(response: Response): void {
    this.#asking.watch.remove(this)
    const reader = response.body?.getReader()
    this.#reader = reader
    if (this.#hasEnded) reader?.cancel().catch(() => undefined)
    else if (!reader) this.#hasEnded = true
    this.#goOn()
  }

  /** Called when the call fails after the head has been sent. */
  fail(error: unknown): void {
    this.#asking.watch.remove(this)
    const last = this.#asking.failed(error).then((text): Step => ({ done: false, value: encoder.encode(text) }))
    // If the caller has disconnected, no code reads this piece, so its rejection is handled here.
    last.catch(() => undefined)
    this.#last = () => last
    this.#goOn()
  }

  next(): Promise<Step> {
    if (this.#owesFirst) {
      this.#owesFirst = false
      return Promise.resolve({ done: false, value: keepAliveFor(this.#asking.call.dialect) })
    }
    return new Promise((resolve) => {
      this.#resolve = resolve
      this.#goOn()
    })
  }

  /** The runtime calls this when the caller has disconnected, and after the body has ended. */
  async return(): Promise<Step> {
    this.#hasEnded = true
    this.#give(atEnd)
    await this.#reader?.cancel()
    return atEnd
  }

  /** Resolves the pending `next` with the piece that follows the keep-alives, if that piece is available. */
  #goOn(): void {
    if (!this.#resolve) return
    const reader = this.#reader
    const last = this.#last
    if (this.#hasEnded) this.#give(atEnd)
    else if (reader) this.#give(this.#readOf(reader))
    else if (last) {
      this.#hasEnded = true
      this.#give(last())
    }
  }

  async #readOf(rest: BodyReader): Promise<Step> {
    const { done, value } = await rest.read()
    return done || !value ? atEnd : { done: false, value }
  }

  #give(step: Step | Promise<Step>): void {
    const resolve = this.#resolve
    this.#resolve = undefined
    resolve?.(step)
  }
}
