import type { StreamMeter, StreamSignal } from '../dialects/dialect.ts'
import { GatewayError } from '../errors.ts'
import type { Outcome } from '../events.ts'
import { joined } from '../lib/joined.ts'
import { eventAt, SseSplitter, sseData } from '../lib/sse.ts'
import type { RelayDeps } from './deps.ts'
import { describeFault } from './describe-fault.ts'
import { withoutKey } from './error-answer.ts'
import { errorEventFor } from './error-response.ts'
import type { IdleWait } from './idle-watch.ts'
import { countUsage } from './measure.ts'
import { settleStream } from './settle-stream.ts'
import type { OpenCall } from './settlement.ts'
import { endings, faultIn, unreadablePart } from './stream-endings.ts'
import type { StreamPiece, StreamReader } from './stream-reader.ts'
import { unreadLimit } from './unread-limit.ts'
import type { UpstreamPiece } from './upstream-reader.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const keepAlive = encoder.encode(': keep-alive\n\n')

/** How long the formal end of a complete stream is waited for. */
const drainMs = 1_000
/** Characters that are surely a token or more; what the running estimate divides by. */
const charactersPerToken = 3

interface StreamOptions {
  deps: RelayDeps
  open: OpenCall
  reader: StreamReader
  meter: StreamMeter
  /** The usage chunk was asked for by us, not by the caller. */
  withholdUsage: boolean
  /** Pieces read already, to see whether the upstream answers at all. */
  opening: UpstreamPiece[]
}

type Bytes = Uint8Array | undefined
type Step = IteratorResult<Uint8Array>

const never = Number.POSITIVE_INFINITY
const atEnd: Step = { done: true, value: undefined }

/**
 * The body of a streamed answer: the upstream's events as they come, metered, with an honest end. It owns the hold from
 * its making: the end, a broken or stalled upstream, an error event, quota running out, a caller who leaves midway or
 * before the first read each settle once. An iterator object and not a generator, because a generator that is dropped
 * before its first step never runs its `finally`; and no async function where a piece passes, because thousands of
 * streams wait in it at a time.
 */
export class RelayStream implements AsyncIterableIterator<Uint8Array>, IdleWait {
  /** Due when the caller has not asked for more for too long: what is left would be held for nobody. */
  dueAtMs = never
  place: number | undefined
  readonly #deps: RelayDeps
  readonly #open: OpenCall
  readonly #reader: StreamReader
  readonly #meter: StreamMeter
  readonly #withholdUsage: boolean
  readonly #opening: UpstreamPiece[]
  readonly #splitter = new SseSplitter()
  #ended = false
  /** Ended for a caller who did not read, and who is not to take what it got for all. */
  #isCut = false
  /** The first step, when it was made before the runtime asked for it. */
  #begun: Promise<Step> | undefined
  /** What is sent after the charge is durable. */
  #settling: Promise<void> | undefined
  /** When there was something of the answer for the caller; 0 = not yet. */
  #firstByteMs = 0
  /** The limit for the whole call, which is ours, ended it. */
  #isOverdue = false
  #promptTokens: number
  /** Where the output was last really counted; the running estimate goes on from there. */
  #counted = { pieces: 0, characters: 0, tokens: 0 }
  /** Completion tokens that the hold surely pays for, as far as that was asked; it grows with the hold. */
  #paidTokens = -1
  /** Who waits for the next bytes. */
  #resolve: ((step: Step | Promise<Step>) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  constructor({ deps, open, reader, meter, withholdUsage, opening }: StreamOptions) {
    this.#deps = deps
    this.#open = open
    this.#reader = reader
    this.#meter = meter
    this.#withholdUsage = withholdUsage
    this.#opening = opening
    this.#promptTokens = open.call.promptGuess
    // The runtime does not ask for the end of a body that it never began to read.
    deps.idleWatch.add(this)
    const { leaving } = open.call
    leaving.action = () => this.#leave()
    if (leaving.hasLeft) this.#leave()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Step> {
    const begun = this.#begun
    if (begun !== undefined) {
      this.#begun = undefined
      return begun
    }
    this.dueAtMs = never
    return new Promise(this.#waiter)
  }

  /** The body for an answer, once its first bytes are there: the runtime then sends them together with the head. */
  async body(): Promise<ReadableStream> {
    const first = this.next()
    await first
    this.#begun = first
    return this as unknown as ReadableStream
  }

  readonly #waiter = (resolve: (step: Step | Promise<Step>) => void, reject: (error: unknown) => void): void => {
    this.#resolve = resolve
    this.#reject = reject
    this.#advance()
  }

  /** Goes from piece to piece until there is something to send. */
  #advance(): void {
    for (let piece = this.#opening.shift(); piece; piece = this.#opening.shift()) if (this.#isAnswered(piece)) return
    if (this.#ended) this.#resolve?.(this.#end())
    else this.#reader.ask(this.#onPiece)
  }

  readonly #onPiece = (piece: StreamPiece): void => {
    if (!this.#isAnswered(piece)) this.#advance()
  }

  /** False when there is nothing to send for a piece. */
  #isAnswered(piece: StreamPiece): boolean {
    try {
      // The caller may have left meanwhile; then the call is settled, or about to be.
      if (this.#ended) this.#resolve?.(this.#end())
      else if (piece.kind === 'broken' && this.#open.call.leaving.hasLeft) this.#resolve?.(this.return())
      else {
        const bytes = this.#take(piece)
        if (!(bytes instanceof Promise)) return this.#isSent(bytes)
        bytes.then(this.#onBytes).catch(this.#onFault)
      }
    } catch (error) {
      this.#onFault(error)
    }
    return true
  }

  /** A body that breaks off is the one sign left for who reads on after all. The runtime prints whatever error it is given. */
  #end(): Step | Promise<Step> {
    return this.#isCut ? Promise.reject(undefined) : atEnd
  }

  readonly #onBytes = (bytes: Bytes): void => {
    if (!this.#isSent(bytes)) this.#advance()
  }

  /** What nobody foresaw ends the answer as broken, and holds no quota; a blank line parts it from a torn event. */
  readonly #onFault = (fault: unknown): void => {
    const error = faultIn(fault)
    if (error.code === 'internal_error') this.#warn(fault)
    const before = this.#firstByteMs > 0 ? encoder.encode('\n\n') : undefined
    this.#fail(error, before).then(this.#onBytes, () => this.#reject?.(undefined))
  }

  readonly #warn = (fault: unknown): void => {
    this.#deps.events.warning(`${this.#open.call.requestId}: ${describeFault(fault)}`)
  }

  #isSent(bytes: Bytes): boolean {
    if (bytes === undefined || bytes.length === 0) return false
    this.dueAtMs = unreadLimit(this.#deps)
    this.#resolve?.({ done: false, value: bytes })
    return true
  }

  /** Nobody has asked for more for too long. */
  due(): void {
    this.dueAtMs = never
    if (!this.#ended) this.#isCut = true
    this.#leave()
  }

  /** Nobody waits for this, so that nobody else would hear of its failure. */
  #leave(): void {
    this.return().catch(this.#warn)
  }

  /** The runtime calls this when the caller has left, and after the end. */
  async return(): Promise<Step> {
    if (!this.#ended) {
      this.#ended = true
      const meter = this.#meter
      const { finished } = meter
      // After the last word little but the usage is missing: what the model did unseen is in it, and must be paid.
      if (finished || meter.answered) await this.#readUsage()
      this.#reader.cancel()
      await this.#settle(finished ? 'complete' : 'aborted', '')
    }
    await this.#settling
    return atEnd
  }

  /** Reads what the upstream still has to say to an answer that is complete, or about to be, for a short time. */
  async #readUsage(): Promise<void> {
    const meter = this.#meter
    const untilMs = this.#deps.clock.nowMs() + drainMs
    this.#reader.hurry(drainMs)
    const isTold = () => meter.finished && (meter.usage ?? meter.reported) !== undefined
    while (!isTold() && this.#deps.clock.nowMs() < untilMs) {
      const piece = await this.#reader.next()
      // What it says has been metered by who read it.
      if (piece.kind === 'ready') continue
      if (piece.kind !== 'chunk') return
      for (const { data } of this.#splitter.push(piece.bytes).events) {
        if (data !== undefined && meter.feed(data) === 'done') return
      }
    }
  }

  #take(piece: StreamPiece): Promise<Bytes> | Bytes {
    switch (piece.kind) {
      case 'chunk':
        return this.#chunk(piece.bytes)
      case 'ready':
        this.#begins(piece.bytes)
        return this.#needsMore() ? this.#extend(piece.bytes) : piece.bytes
      case 'last':
        return this.#lastPiece(piece.bytes, piece.outcome)
      case 'quiet':
        return this.#splitter.partlySent ? undefined : keepAlive
      default:
        return this.#upstreamEnded(piece.kind)
    }
  }

  #chunk(bytes: Uint8Array): Promise<Bytes> | Bytes {
    const meter = this.#meter
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
      if (signal === 'content' || (signal === 'usage-only' && !this.#withholdUsage)) {
        if (kept !== undefined) kept += block.text.slice(event.from, event.to)
        continue
      }
      kept ??= block.text.slice(0, event.from)
      if (signal === 'usage-only') continue
      const before = joined(block.firstRest, encoder.encode(kept))
      if (signal === 'done') return this.#complete(before, block.text.slice(event.from, event.to))
      if (signal === 'error') return this.#upstreamError(before, block.text.slice(event.from, event.to))
      return this.#fail(unreadablePart(), before)
    }
    const whole = kept === undefined ? block.bytes : joined(block.firstRest, encoder.encode(kept))
    const out = joined(whole, block.early)
    this.#begins(out)
    return this.#needsMore() ? this.#extend(out) : out
  }

  #lastPiece(bytes: Uint8Array, outcome: 'done' | 'error' | 'garbage'): Promise<Bytes> {
    if (outcome === 'done') return this.#complete(bytes, '')
    if (outcome === 'error') return this.#upstreamError(undefined, decoder.decode(bytes))
    return this.#fail(unreadablePart())
  }

  /** True when what was delivered, and half a slice more, costs more than is held. */
  #needsMore(): boolean {
    const tokens = this.#tokensSoFar() + Math.ceil(this.#deps.settings().PreConsumedQuota / 2)
    if (tokens <= this.#paidTokens) return false
    const { charging, hold } = this.#open
    this.#paidTokens = charging.paidTokens(hold.amount, this.#promptTokens)
    return tokens > this.#paidTokens && charging.soFar(this.#promptTokens, tokens) > hold.amount
  }

  #tokensSoFar(): number {
    const { pieces, characters, tokens } = this.#counted
    const meter = this.#meter
    return tokens + Math.max(meter.pieces - pieces, Math.ceil((meter.characters - characters) / charactersPerToken))
  }

  #costSoFar(marginTokens: number): number {
    return this.#open.charging.soFar(this.#promptTokens, this.#tokensSoFar() + Math.ceil(marginTokens))
  }

  async #extend(out: Bytes): Promise<Uint8Array> {
    const open = this.#open
    const deps = this.#deps
    const missing = this.#costSoFar(deps.settings().PreConsumedQuota) - open.hold.amount
    const failed = await open.hold.extend(missing, this.#costSoFar(0)).then(
      () => undefined,
      (error: GatewayError) => error,
    )
    const sent = out ?? new Uint8Array(0)
    if (this.#costSoFar(0) <= open.hold.amount) return sent
    // The estimate is rather too high: before it ends an answer, what was delivered is really counted.
    await this.#count()
    if (this.#costSoFar(0) <= open.hold.amount || this.#ended) return sent
    // Under one-api's policy an answer may cost more than there is.
    if (deps.settings().QuotaPolicy === 'compat') return sent
    const exhausted = () =>
      new GatewayError('quota_exhausted_mid_stream', 'the quota ran out in the middle of the answer')
    return this.#fail(failed ?? exhausted(), sent)
  }

  async #count(): Promise<void> {
    const meter = this.#meter
    const { promptTokens, completionTokens } = await countUsage(this.#deps, this.#open, meter.output())
    this.#promptTokens = promptTokens
    this.#paidTokens = -1
    this.#counted = { pieces: meter.pieces, characters: meter.characters, tokens: completionTokens }
  }

  async #complete(before: Bytes, last: string): Promise<Uint8Array> {
    this.#ended = true
    this.#reader.drain(drainMs)
    const out = joined(before, encoder.encode(last)) as Uint8Array
    this.#begins(out)
    await this.#settle('complete', '')
    return out
  }

  /** The upstream reported an error within the stream: the caller gets that event as it is, and no end mark. */
  async #upstreamError(before: Bytes, event: string): Promise<Uint8Array> {
    this.#ended = true
    this.#begins(before)
    this.#reader.cancel()
    this.#deps.breaker.failed(this.#open.channel.id, this.#open.call.facts.model)
    await this.#settle('interrupted', 'upstream_stream_error')
    return joined(before, encoder.encode(withoutKey(event, this.#open.channel.upstream.key))) as Uint8Array
  }

  /** No more comes from the upstream. What stands after the last blank line counts if it is a whole event. */
  async #upstreamEnded(how: keyof typeof endings): Promise<Uint8Array> {
    const meter = this.#meter
    const rest = this.#splitter.finish()
    const found = rest.text.trim() === '' ? undefined : sseData(rest.text)
    const data = found?.trim() === '' ? undefined : found
    const signal = data === undefined ? 'garbage' : meter.feed(data)
    const open = rest.bytes === undefined && rest.text !== ''
    const last = open ? '\n\n' : `data: ${data}\n\n`
    if (signal === 'error') return this.#upstreamError(undefined, last)
    const isKept = signal === 'content' || (signal === 'usage-only' && !this.#withholdUsage)
    const before = isKept || open ? encoder.encode(last) : undefined
    if (signal === 'done' || meter.finished) return this.#complete(before, meter.endMark)
    // A torn last event is no content: what was cut is not passed off as whole.
    const [code, message] = endings[how]
    this.#isOverdue = how === 'overdue'
    return this.#fail(new GatewayError(code, message), before)
  }

  async #fail(error: GatewayError, before?: Bytes): Promise<Uint8Array> {
    const open = this.#open
    const isTorn = before === undefined && this.#splitter.partlySent
    this.#ended = true
    this.#begins(before)
    this.#reader.cancel()
    if (error.type === 'upstream_error') this.#deps.breaker.failed(open.channel.id, open.call.facts.model)
    else this.#deps.breaker.undecided(open.channel.id, open.call.facts.model)
    await this.#settle('interrupted', error.code)
    const event = errorEventFor(error, open.call.requestId, open.call.dialect)
    return joined(before, encoder.encode(isTorn ? `\n\n${event}` : event)) as Uint8Array
  }

  /** Charges what was delivered, once. */
  #settle(outcome: Outcome, code: string): Promise<void> {
    this.#settling ??= this.#settleOnce(outcome, code)
    return this.#settling
  }

  async #settleOnce(outcome: Outcome, code: string): Promise<void> {
    const deps = this.#deps
    const open = this.#open
    open.call.leaving.close()
    deps.idleWatch.remove(this)
    if (outcome === 'complete') deps.breaker.succeeded(open.channel.id, open.call.facts.model)
    else if (outcome === 'aborted') deps.breaker.undecided(open.channel.id, open.call.facts.model)
    const ending = { outcome, code, firstByteMs: this.#firstByteMs, isOverdue: this.#isOverdue }
    await settleStream(deps, open, this.#meter, ending)
  }

  #begins(bytes: Bytes): void {
    if (this.#firstByteMs > 0 || !bytes || bytes.length === 0) return
    this.#firstByteMs = Math.max(1, this.#deps.clock.nowMs() - this.#open.call.startedAtMs)
  }
}
