import type { RelayCall } from '../call/call.ts'
import type { DeadlineWait, DeadlineWatch } from '../cancellation/deadline-watch.ts'
import { droppedHeader, droppedNames } from '../headers/dropped-header.ts'
import { streamHeaders } from '../headers/relay-headers.ts'
import { keepAlive } from './keep-alive.ts'

/** A stream that is being asked for. */
export interface Asking {
  call: RelayCall
  watch: DeadlineWatch
  /** Longest silence before the caller gets a sign that the call goes on. */
  everyMs: number
  /** The answer, once the upstream has begun it. */
  answering: Promise<Response>
  /** Takes note of a failure that no status can tell any more, and writes the last events of the stream. */
  failed(error: unknown): Promise<string>
}

/**
 * The answer of a stream. Where the upstream takes longer to begin than a caller may be left without a byte, it is one
 * whose head and keep-alives go out before: other channels may still be tried behind it. Rejects as `answering` does,
 * unless the head has gone out by then.
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

type Step = IteratorResult<Uint8Array>
const encoder = new TextEncoder()
const atEnd: Step = { done: true, value: undefined }

/** What is used here of a stream's reader. */
interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

/** The body of an answer that may have to begin before its upstream does. It owns nothing: the call behind it does. */
class EarlyAnswer implements AsyncIterableIterator<Uint8Array>, DeadlineWait {
  dueAtMs: number
  place: number | undefined
  hasBegun = false
  readonly #asking: Asking
  readonly #begin: (response: Response) => void
  /** The answer behind the keep-alives. */
  #reader: BodyReader | undefined
  /** What is left to say behind them where there is no answer. */
  #last: (() => Promise<Step>) | undefined
  #hasEnded = false
  /** Who waits for the next bytes. */
  #resolve: ((step: Step | Promise<Step>) => void) | undefined
  /** The first keep-alive goes out with the head, before anybody has asked for it. */
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

  /** Nothing has come for so long. */
  due(): void {
    const { call, watch, everyMs } = this.#asking
    // A refusal for want of quota still has its status, and the head tells what is left of the limits.
    if (!call.isHeld || call.signal.aborted) return
    this.dueAtMs = watch.nowMs() + everyMs
    this.#give({ done: false, value: keepAlive })
    if (this.hasBegun) return
    this.hasBegun = true
    const headers = streamHeaders(new Headers(), call, '')
    const { dropped = [] } = call
    if (dropped.length > 0) headers[droppedHeader] = droppedNames(dropped)
    this.#begin(new Response(this as unknown as ReadableStream, { status: 200, headers }))
  }

  /** The answer has come before it was missed. */
  leaveTo(settle: () => void): void {
    this.#asking.watch.remove(this)
    settle()
  }

  /** The answer has come behind its head. */
  goOn(response: Response): void {
    this.#asking.watch.remove(this)
    const reader = response.body?.getReader()
    this.#reader = reader
    if (this.#hasEnded) reader?.cancel().catch(() => undefined)
    else if (!reader) this.#hasEnded = true
    this.#goOn()
  }

  /** There is no answer behind the head. */
  fail(error: unknown): void {
    this.#asking.watch.remove(this)
    const last = this.#asking.failed(error).then((text): Step => ({ done: false, value: encoder.encode(text) }))
    // Who has left does not hear of it.
    last.catch(() => undefined)
    this.#last = () => last
    this.#goOn()
  }

  next(): Promise<Step> {
    if (this.#owesFirst) {
      this.#owesFirst = false
      return Promise.resolve({ done: false, value: keepAlive })
    }
    return new Promise((resolve) => {
      this.#resolve = resolve
      this.#goOn()
    })
  }

  /** The runtime calls this when the caller has left, and after the end. */
  async return(): Promise<Step> {
    this.#hasEnded = true
    this.#give(atEnd)
    await this.#reader?.cancel()
    return atEnd
  }

  /** Gives what comes behind the keep-alives to who waits, once that is known. */
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
