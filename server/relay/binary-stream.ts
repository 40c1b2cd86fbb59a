import { GatewayError } from '../errors.ts'
import type { Outcome } from '../events.ts'
import type { RelayDeps } from './deps.ts'
import { type OpenCall, settle } from './settlement.ts'
import type { UpstreamReader } from './upstream-reader.ts'

/**
 * The body of an answer of sound. Its price is known before, so the last piece waits only for the charge. There is no
 * event to report a fault with: a broken upstream breaks the answer off, and costs nothing.
 */
export class BinaryStream implements AsyncIterableIterator<Uint8Array> {
  readonly #deps: RelayDeps
  readonly #open: OpenCall
  readonly #reader: UpstreamReader
  /** One piece is kept back until it is known not to be the last. */
  #kept: Uint8Array | undefined
  #ended = false
  #firstByteMs = 0

  constructor(deps: RelayDeps, open: OpenCall, reader: UpstreamReader) {
    this.#deps = deps
    this.#open = open
    this.#reader = reader
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    while (!this.#ended) {
      const piece = await this.#reader.next()
      if (piece.kind === 'quiet') continue
      if (piece.kind === 'chunk') {
        if (this.#firstByteMs === 0) this.#firstByteMs = this.#deps.clock.nowMs() - this.#open.call.startedAtMs
        const ready = this.#kept
        this.#kept = piece.bytes.slice()
        if (ready) return { done: false, value: ready }
        continue
      }
      this.#ended = true
      this.#reader.cancel()
      if (piece.kind !== 'end') return this.#breakOff()
      await this.#settle('complete')
      return this.#kept ? { done: false, value: this.#kept } : { done: true, value: undefined }
    }
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    if (!this.#ended) {
      this.#ended = true
      this.#reader.cancel()
      await this.#settle('aborted')
    }
    return { done: true, value: undefined }
  }

  async #breakOff(): Promise<never> {
    this.#deps.breaker.failed(this.#open.channel.id, this.#open.call.facts.model)
    await this.#open.hold.release()
    throw new GatewayError('upstream_stream_error', 'the connection to the upstream broke in the middle of its answer')
  }

  async #settle(outcome: Outcome): Promise<void> {
    if (outcome === 'complete') this.#deps.breaker.succeeded(this.#open.channel.id, this.#open.call.facts.model)
    await settle(this.#deps, this.#open, {
      measure: { usage: { promptTokens: 0, completionTokens: 0 }, estimated: true },
      outcome,
      code: '',
      firstByteMs: this.#firstByteMs,
    })
  }
}
