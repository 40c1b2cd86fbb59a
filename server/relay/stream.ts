import type { StreamMeter, StreamSignal } from '../dialects/dialect.ts'
import { errorEvent } from '../dialects/openai/errors.ts'
import { GatewayError } from '../errors.ts'
import type { Outcome } from '../events.ts'
import { eventAt, SseSplitter, sseData } from '../lib/sse.ts'
import type { RelayDeps } from './deps.ts'
import { withoutKey } from './error-answer.ts'
import type { IdleWait } from './idle-watch.ts'
import { countUsage, measure } from './measure.ts'
import { type OpenCall, settle } from './settlement.ts'
import type { UpstreamPiece, UpstreamReader } from './upstream-reader.ts'

const encoder = new TextEncoder()
const keepAlive = encoder.encode(': keep-alive\n\n')

/** How long the formal end of a complete stream is waited for. */
const drainMs = 1_000
/** Characters that are surely a token or more; what the running estimate divides by. */
const charactersPerToken = 3

/** What the caller is told when the upstream's answer ends before it is complete. */
const endings = {
  end: ['upstream_stream_incomplete', 'the upstream ended its answer before it was complete'],
  broken: ['upstream_stream_error', 'the connection to the upstream broke in the middle of its answer'],
  stalled: ['upstream_timeout', 'the upstream stopped sending in the middle of its answer'],
  overdue: ['upstream_timeout', 'the upstream did not finish its answer in time'],
} as const

interface StreamOptions {
  deps: RelayDeps
  open: OpenCall
  reader: UpstreamReader
  meter: StreamMeter
  /** The usage chunk was asked for by us, not by the caller. */
  withholdUsage: boolean
  /** Pieces read already, to see whether the upstream answers at all. */
  opening: readonly UpstreamPiece[]
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
  readonly #opening: UpstreamPiece[]
  #ended = false
  /** What is sent after the charge is durable. */
  #settling: Promise<void> | undefined
  #firstByteMs = 0
  #promptTokens: number
  /** Where the output was last really counted; the running estimate goes on from there. */
  #counted = { pieces: 0, characters: 0, tokens: 0 }
  readonly #onAbort = () => {
    void this.return()
  }
  /** Due when the caller has not asked for more for too long: what is left would be held for nobody. */
  readonly #unread: IdleWait = { dueAtMs: Number.POSITIVE_INFINITY, due: this.#onAbort }

  constructor(options: StreamOptions) {
    this.#options = options
    this.#opening = [...options.opening]
    this.#promptTokens = options.open.call.promptGuess
    // The runtime does not ask for the end of a body that it never began to read.
    options.deps.idleWatch.add(this.#unread)
    const { signal } = options.open.call
    signal.addEventListener('abort', this.#onAbort, { once: true })
    if (signal.aborted) this.#onAbort()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    this.#unread.dueAtMs = Number.POSITIVE_INFINITY
    while (!this.#ended) {
      const piece = this.#opening.shift() ?? (await this.#options.reader.next())
      // The caller may have left meanwhile; then the call is settled, or about to be.
      if (this.#ended) break
      if (piece.kind === 'broken' && this.#options.open.call.signal.aborted) return this.return()
      const bytes = await this.#take(piece)
      if (bytes !== undefined && bytes.length > 0) {
        this.#unread.dueAtMs = this.#unreadLimit()
        return { done: false, value: bytes }
      }
    }
    return { done: true, value: undefined }
  }

  #unreadLimit(): number {
    const { deps } = this.#options
    const limitMs = deps.settings().CallerIdleTimeout * 1000
    return limitMs > 0 ? deps.clock.nowMs() + limitMs : Number.POSITIVE_INFINITY
  }

  /** The runtime calls this when the caller has left, and after the end. */
  async return(): Promise<IteratorResult<Uint8Array>> {
    if (!this.#ended) {
      this.#ended = true
      // After the last word only the usage is missing: what the model did unseen is in it, and must be paid.
      if (this.#options.meter.finished) await this.#readUsage()
      this.#options.reader.cancel()
      await this.#settle(this.#options.meter.finished ? 'complete' : 'aborted', '')
    }
    await this.#settling
    return { done: true, value: undefined }
  }

  /** Reads what the upstream still has to say to an answer that is complete, for a short time. */
  async #readUsage(): Promise<void> {
    const { reader, meter, deps } = this.#options
    const untilMs = deps.clock.nowMs() + drainMs
    reader.hurry(drainMs)
    while (!meter.usage && deps.clock.nowMs() < untilMs) {
      const piece = await reader.next()
      if (piece.kind !== 'chunk') return
      for (const { data } of this.#splitter.push(piece.bytes).events) {
        if (data !== undefined && meter.feed(data) === 'done') return
      }
    }
  }

  #take(piece: UpstreamPiece): Promise<Uint8Array | undefined> | Uint8Array | undefined {
    switch (piece.kind) {
      case 'chunk':
        return this.#chunk(piece.bytes)
      case 'quiet':
        return this.#splitter.partlySent ? undefined : keepAlive
      default:
        return this.#upstreamEnded(piece.kind)
    }
  }

  #chunk(bytes: Uint8Array): Promise<Uint8Array> | Uint8Array | undefined {
    const { meter } = this.#options
    if (this.#firstByteMs === 0) this.#firstByteMs = this.#elapsedMs()
    const block = this.#splitter.push(bytes)
    const { text } = block
    // What can be skimmed is not cut into events; the rare forms are.
    const events = block.firstRest || text.includes('\r') ? block.events : undefined
    // Text to send in place of the block's bytes, once an event of it is not to be sent as it is.
    let kept: string | undefined
    for (let index = 0, at = 0; ; index++) {
      const from = events ? at : meter.skim(text, at)
      if (kept !== undefined) kept += text.slice(at, from)
      const event = events ? events[index] : from < text.length ? eventAt(text, from) : undefined
      if (!event) break
      at = event.to
      const signal: StreamSignal = event.data === undefined ? 'content' : meter.feed(event.data)
      if (signal === 'content' || (signal === 'usage-only' && !this.#options.withholdUsage)) {
        if (kept !== undefined) kept += block.text.slice(event.from, event.to)
        continue
      }
      kept ??= block.text.slice(0, event.from)
      if (signal === 'usage-only') continue
      const before = joined(block.firstRest, encoder.encode(kept))
      if (signal === 'done') return this.#complete(before, block.text.slice(event.from, event.to))
      if (signal === 'error') return this.#upstreamError(before, block.text.slice(event.from, event.to))
      return this.#fail(
        new GatewayError('upstream_stream_error', 'the upstream sent a part of its answer that cannot be read'),
        before,
      )
    }
    const whole = kept === undefined ? block.bytes : joined(block.firstRest, encoder.encode(kept))
    const out = joined(whole, block.early)
    return this.#needsMore() ? this.#extend(out) : out
  }

  /** True when what was delivered, and half a slice more, costs more than is held. */
  #needsMore(): boolean {
    const { open, deps } = this.#options
    return this.#costSoFar(deps.settings().PreConsumedQuota / 2) > open.hold.amount
  }

  #costSoFar(marginTokens: number): number {
    const { meter, open } = this.#options
    const { pieces, characters, tokens } = this.#counted
    const since = Math.max(meter.pieces - pieces, Math.ceil((meter.characters - characters) / charactersPerToken))
    return open.charging.soFar(this.#promptTokens, tokens + since + Math.ceil(marginTokens))
  }

  async #extend(out: Uint8Array | undefined): Promise<Uint8Array> {
    const { open, deps } = this.#options
    const missing = this.#costSoFar(deps.settings().PreConsumedQuota) - open.hold.amount
    await open.hold.extend(missing, this.#costSoFar(0))
    const sent = out ?? new Uint8Array(0)
    if (this.#costSoFar(0) <= open.hold.amount) return sent
    // The estimate is rather too high: before it ends an answer, what was delivered is really counted.
    await this.#count()
    if (this.#costSoFar(0) <= open.hold.amount || this.#ended) return sent
    // Under one-api's policy an answer may cost more than there is.
    if (deps.settings().QuotaPolicy === 'compat') return sent
    return this.#fail(
      new GatewayError('quota_exhausted_mid_stream', 'the quota ran out in the middle of the answer'),
      sent,
    )
  }

  async #count(): Promise<void> {
    const { deps, open, meter } = this.#options
    const { promptTokens, completionTokens } = await countUsage(deps, open, meter.output())
    this.#promptTokens = promptTokens
    this.#counted = { pieces: meter.pieces, characters: meter.characters, tokens: completionTokens }
  }

  async #complete(before: Uint8Array | undefined, last: string): Promise<Uint8Array> {
    this.#ended = true
    this.#options.reader.drain(drainMs)
    await this.#settle('complete', '')
    return joined(before, encoder.encode(last)) as Uint8Array
  }

  /** The upstream reported an error within the stream: the caller gets that event as it is, and no end mark. */
  async #upstreamError(before: Uint8Array | undefined, event: string): Promise<Uint8Array> {
    this.#ended = true
    this.#options.reader.cancel()
    this.#options.deps.breaker.failed(this.#options.open.channel.id, this.#options.open.call.facts.model)
    await this.#settle('interrupted', 'upstream_stream_error')
    const { key } = this.#options.open.channel.upstream
    return joined(before, encoder.encode(withoutKey(event, key))) as Uint8Array
  }

  /** No more comes from the upstream. What stands after the last blank line counts if it is a whole event. */
  async #upstreamEnded(how: keyof typeof endings): Promise<Uint8Array> {
    const { meter, withholdUsage } = this.#options
    const rest = this.#splitter.finish()
    const found = rest.text.trim() === '' ? undefined : sseData(rest.text)
    const data = found?.trim() === '' ? undefined : found
    const signal = data === undefined ? 'garbage' : meter.feed(data)
    const open = rest.bytes === undefined && rest.text !== ''
    const last = open ? '\n\n' : `data: ${data}\n\n`
    if (signal === 'error') return this.#upstreamError(undefined, last)
    const isKept = signal === 'content' || (signal === 'usage-only' && !withholdUsage)
    const before = isKept || open ? encoder.encode(last) : undefined
    if (signal === 'done' || meter.finished) return this.#complete(before, meter.endMark)
    // A torn last event is no content: what was cut is not passed off as whole.
    const [code, message] = endings[how]
    return this.#fail(new GatewayError(code, message), before)
  }

  async #fail(error: GatewayError, before?: Uint8Array): Promise<Uint8Array> {
    const { open, deps, reader } = this.#options
    const isTorn = before === undefined && this.#splitter.partlySent
    this.#ended = true
    reader.cancel()
    if (error.type === 'upstream_error') deps.breaker.failed(open.channel.id, open.call.facts.model)
    await this.#settle('interrupted', error.code)
    const event = errorEvent(error, open.call.requestId)
    return joined(before, encoder.encode(isTorn ? `\n\n${event}` : event)) as Uint8Array
  }

  /** Charges what was delivered, once. */
  #settle(outcome: Outcome, code: string): Promise<void> {
    this.#settling ??= this.#settleOnce(outcome, code)
    return this.#settling
  }

  async #settleOnce(outcome: Outcome, code: string): Promise<void> {
    const { deps, open, meter } = this.#options
    open.call.signal.removeEventListener('abort', this.#onAbort)
    deps.idleWatch.remove(this.#unread)
    if (outcome === 'complete') deps.breaker.succeeded(open.channel.id, open.call.facts.model)
    else if (outcome === 'aborted') deps.breaker.undecided(open.channel.id, open.call.facts.model)
    const found = await measure(deps, open, {
      usage: meter.usage,
      output: () => meter.output(),
      ...(outcome !== 'complete' && { deliveredTokens: meter.pieces }),
    })
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
