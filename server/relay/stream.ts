import type { StreamMeter, StreamSignal } from '../dialects/dialect.ts'
import { errorEvent } from '../dialects/openai/errors.ts'
import { GatewayError } from '../errors.ts'
import type { Outcome } from '../events.ts'
import { SseSplitter, sseData } from '../lib/sse.ts'
import { estimatedPrompt } from './charging.ts'
import type { RelayDeps } from './deps.ts'
import { measure } from './measure.ts'
import { type OpenCall, settle } from './settlement.ts'
import type { UpstreamPiece, UpstreamReader } from './upstream-reader.ts'

const encoder = new TextEncoder()
const keepAlive = encoder.encode(': keep-alive\n\n')

/** Characters that are surely a token or more; what the running estimate divides by. */
const charactersPerToken = 3

interface StreamOptions {
  deps: RelayDeps
  open: OpenCall
  reader: UpstreamReader
  meter: StreamMeter
  /** The usage chunk was asked for by us, not by the caller. */
  withholdUsage: boolean
  /** The first piece when it has been read already, to see whether the upstream answers at all. */
  first: UpstreamPiece | undefined
}

/**
 * The body of a streamed answer: the upstream's events as they come, metered, with an honest end. It owns the hold from
 * its making: the end, a broken or stalled upstream, an error event, quota running out, a caller who leaves midway or
 * before the first read each settle once. An iterator object and not a generator, because a generator that is dropped
 * before its first step never runs its `finally`.
 */
export class RelayStream implements AsyncIterableIterator<Uint8Array> {
  readonly #options: StreamOptions
  readonly #splitter = new SseSplitter()
  #first: UpstreamPiece | undefined
  #ended = false
  /** What is sent after the charge is durable. */
  #settling: Promise<void> | undefined
  #firstByteMs = 0
  #promptTokens: number

  constructor(options: StreamOptions) {
    this.#options = options
    this.#first = options.first
    this.#promptTokens = estimatedPrompt(options.open.call)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    while (!this.#ended) {
      const piece = this.#first ?? (await this.#options.reader.next())
      this.#first = undefined
      const bytes = await this.#take(piece)
      if (bytes !== undefined && bytes.length > 0) return { done: false, value: bytes }
    }
    return { done: true, value: undefined }
  }

  /** The runtime calls this when the caller has left, and after the end. */
  async return(): Promise<IteratorResult<Uint8Array>> {
    if (!this.#ended) {
      this.#ended = true
      this.#options.reader.cancel()
      await this.#settle('aborted', '')
    }
    return { done: true, value: undefined }
  }

  #take(piece: UpstreamPiece): Promise<Uint8Array | undefined> | Uint8Array | undefined {
    switch (piece.kind) {
      case 'chunk':
        return this.#chunk(piece.bytes)
      case 'quiet':
        return keepAlive
      case 'end':
        return this.#upstreamEnded()
      case 'stalled':
        return this.#fail(
          new GatewayError('upstream_timeout', 'the upstream stopped sending in the middle of its answer'),
        )
      case 'broken':
        return this.#fail(
          new GatewayError('upstream_stream_error', 'the connection to the upstream broke in the middle of its answer'),
        )
    }
  }

  #chunk(bytes: Uint8Array): Promise<Uint8Array> | Uint8Array | undefined {
    const { meter } = this.#options
    if (this.#firstByteMs === 0) this.#firstByteMs = this.#elapsedMs()
    const block = this.#splitter.push(bytes)
    let kept: string[] | undefined
    for (let index = 0; index < block.events.length; index++) {
      const event = block.events[index] as string
      const data = sseData(event)
      const signal: StreamSignal = data === undefined ? 'content' : meter.feed(data)
      if (signal === 'content' || (signal === 'usage-only' && !this.#options.withholdUsage)) {
        kept?.push(event)
        continue
      }
      kept ??= block.events.slice(0, index)
      if (signal === 'usage-only') continue
      const before = encoder.encode(kept.join(''))
      if (signal === 'done') return this.#complete(before, event)
      if (signal === 'error') return this.#upstreamError(before, event)
      return this.#fail(
        new GatewayError('upstream_stream_error', 'the upstream sent a part of its answer that cannot be read'),
        before,
      )
    }
    const out = joined(kept && !block.firstIsPartlySent ? encoder.encode(kept.join('')) : block.bytes, block.early)
    return this.#needsMore() ? this.#extend(out) : out
  }

  /** True when what was delivered, and half a slice more, costs more than is held. */
  #needsMore(): boolean {
    const { open, deps } = this.#options
    return this.#costSoFar(deps.settings().PreConsumedQuota / 2) > open.hold.amount
  }

  #costSoFar(marginTokens: number): number {
    const { meter, open } = this.#options
    const delivered = Math.max(meter.pieces, Math.ceil(meter.characters / charactersPerToken))
    return open.charging.soFar(this.#promptTokens, delivered + Math.ceil(marginTokens))
  }

  async #extend(out: Uint8Array | undefined): Promise<Uint8Array> {
    const { open, deps } = this.#options
    const cost = this.#costSoFar(0)
    const missing = this.#costSoFar(deps.settings().PreConsumedQuota) - open.hold.amount
    const extended = await open.hold.extend(missing, cost)
    const sent = out ?? new Uint8Array(0)
    if (extended || cost <= open.hold.amount) return sent
    this.#options.reader.cancel()
    return this.#fail(
      new GatewayError('quota_exhausted_mid_stream', 'the quota ran out in the middle of the answer'),
      sent,
      'interrupted',
    )
  }

  async #complete(before: Uint8Array, last: string): Promise<Uint8Array> {
    this.#ended = true
    this.#options.reader.cancel()
    await this.#settle('complete', '')
    return joined(before, encoder.encode(last)) as Uint8Array
  }

  /** The upstream reported an error within the stream: the caller gets that event as it is, and no end mark. */
  async #upstreamError(before: Uint8Array, event: string): Promise<Uint8Array> {
    this.#ended = true
    this.#options.reader.cancel()
    this.#options.deps.breaker.failed(this.#options.open.channel.id, this.#options.open.call.facts.model)
    await this.#settle('interrupted', 'upstream_stream_error')
    return joined(before, encoder.encode(event)) as Uint8Array
  }

  async #upstreamEnded(): Promise<Uint8Array> {
    const { meter } = this.#options
    const rest = this.#splitter.finish()
    const data = rest.text.trim() === '' ? undefined : sseData(`${rest.text}\n\n`)
    const signal = data === undefined ? 'content' : meter.feed(data)
    if (signal === 'error') return this.#upstreamError(new Uint8Array(0), `data: ${data}\n\n`)
    const last = signal === 'content' && data !== undefined ? encoder.encode(`data: ${data}\n\n`) : undefined
    if (signal === 'done' || meter.finished) return this.#complete(last ?? new Uint8Array(0), meter.endMark)
    // A torn last event is no content: what was cut is not passed off as whole.
    return this.#fail(
      new GatewayError('upstream_stream_incomplete', 'the upstream ended its answer before it was complete'),
    )
  }

  async #fail(error: GatewayError, before?: Uint8Array, outcome: Outcome = 'interrupted'): Promise<Uint8Array> {
    const { open, deps, reader } = this.#options
    this.#ended = true
    reader.cancel()
    if (error.type === 'upstream_error') deps.breaker.failed(open.channel.id, open.call.facts.model)
    await this.#settle(outcome, error.code)
    return joined(before, encoder.encode(errorEvent(error, open.call.requestId))) as Uint8Array
  }

  /** Charges what was delivered, once. */
  #settle(outcome: Outcome, code: string): Promise<void> {
    this.#settling ??= this.#settleOnce(outcome, code)
    return this.#settling
  }

  async #settleOnce(outcome: Outcome, code: string): Promise<void> {
    const { deps, open, meter, reader } = this.#options
    reader.close()
    if (outcome === 'complete') deps.breaker.succeeded(open.channel.id, open.call.facts.model)
    else if (outcome === 'aborted') deps.breaker.undecided(open.channel.id, open.call.facts.model)
    const found = await measure(deps, open, { usage: meter.usage, output: () => meter.output() })
    await settle(deps, open, {
      measure: found.measure,
      outcome,
      code,
      firstByteMs: this.#firstByteMs,
      ...(found.note && { note: found.note }),
    })
  }

  #elapsedMs(): number {
    return this.#options.deps.clock.nowMs() - this.#options.open.call.startedAtMs
  }
}

function joined(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (!a || a.length === 0) return b ?? a
  if (!b || b.length === 0) return a
  return Buffer.concat([a, b])
}
