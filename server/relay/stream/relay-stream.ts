import type { StreamMeter } from '../../dialects/neutral/dialect.ts'
import { GatewayError } from '../../errors.ts'
import type { Outcome } from '../../events.ts'
import { SseSplitter } from '../../lib/bytes/sse.ts'
import type { RelayDeps } from '../call/deps.ts'
import { type Delivered, RunningCost } from '../charging/running-cost.ts'
import type { OpenCall } from '../charging/settlement.ts'
import type { AttemptFailed } from '../failures/retry-policy.ts'
import { failureInStream } from '../failures/upstream-failure.ts'
import type { UpstreamPiece } from '../upstream/upstream-reader.ts'
import { AnswerBody, never, type Step, unreadLimit } from './answer-body.ts'
import { keepAliveFor } from './keep-alive.ts'
import { readLate } from './late-usage.ts'
import { noteEnded } from './note-ended.ts'
import { closedUp, joined, passOn } from './pass-on.ts'
import { type ChargedUsage, settleStream } from './settle-stream.ts'
import { endings, failedEnd, faultIn, lastData, ownErrorAfter, passedError, unreadablePart } from './stream-endings.ts'
import type { NextPart, Rescuer, StreamPiece, StreamReader, WriteEnd } from './stream-reader.ts'
import { WaitingReader } from './waiting-reader.ts'

const encoder = new TextEncoder()
const nothing = new Uint8Array()

/** The maximum wait for the end marker of a stream whose content is complete, in milliseconds. */
const drainMs = 1_000

type Bytes = Uint8Array | undefined
/** Returns the last bytes of a stream that broke off. They begin with `before`, which has not been sent yet. */
type EndBroken = (before: Bytes) => Promise<Uint8Array>

/** Everything that a streamed response is created from. */
interface StreamOptions {
  deps: RelayDeps
  open: OpenCall
  reader: StreamReader
  meter: StreamMeter
  /** True if the gateway, not the caller, requested the usage chunk, so that it is not passed on. */
  withholdUsage: boolean
  /** Pieces that were already read to check that the upstream responds. */
  opening: UpstreamPiece[]
  /** Lets another attempt continue the stream if it breaks off; absent = the stream ends with an error in that case. */
  rescuer?: Rescuer | undefined
}

/**
 * The body of a streamed response. It meters the upstream's events and passes them on as they arrive. It never presents
 * an incomplete response as complete. It owns the hold from construction and settles it exactly once, even if the
 * upstream breaks off, stalls or reports an error, the quota runs out, or the caller disconnects, even before the first
 * read. Pieces are handled without async functions, because thousands of streams can wait for a piece at the same time.
 * If another attempt continues the stream, its reader, meter and open call replace those of the broken attempt.
 */
export class RelayStream extends AnswerBody<ChargedUsage> {
  #reader: StreamReader
  #meter: StreamMeter
  readonly #withholdUsage: boolean
  readonly #opening: UpstreamPiece[]
  #splitter = new SseSplitter()
  #cost: RunningCost
  readonly #rescuer: Rescuer | undefined
  /**
   * Set while the gateway tries to continue the broken stream, and after that has failed. `end` then ends the stream.
   */
  #rescue: { done: Promise<unknown>; end: EndBroken } | undefined
  /** The first step, if `body` has already requested it for the runtime. */
  #begun: Promise<Step> | undefined
  /** True if the gateway's own time limit for the whole call ended the stream. */
  #isOverdue = false
  /** True if the next bytes to send begin with the rest of an event that has been sent in part. */
  #isContinued = false
  /** An estimate of the number of bytes that are sent after the charge, which may be many. */
  #lastLength = 0
  /** Resolves the pending `next`. */
  #resolve: ((step: Step | Promise<Step>) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  constructor({ deps, open, reader, meter, withholdUsage, opening, rescuer }: StreamOptions) {
    super(deps, open)
    this.#reader = reader
    this.#meter = meter
    this.#withholdUsage = withholdUsage
    this.#opening = opening
    this.#cost = new RunningCost(deps, open, meter)
    this.#rescuer = rescuer
    this.watchCaller()
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

  /** Returns the body when its first bytes are available, so that the runtime sends them together with the head. */
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

  /** Handles one piece after another until there is something to send. */
  #advance(): void {
    for (let piece = this.#opening.shift(); piece; piece = this.#opening.shift()) if (this.#isAnswered(piece)) return
    if (this.hasEnded) this.#resolve?.(this.end())
    else this.#reader.ask(this.#onPiece)
  }

  readonly #onPiece = (piece: StreamPiece): void => {
    if (!this.#isAnswered(piece)) this.#advance()
  }

  /** Handles a piece. Returns false if there is nothing to send for it. */
  #isAnswered(piece: StreamPiece): boolean {
    try {
      // If the caller has disconnected during the wait for this piece, `giveUp` settles the call.
      if (this.hasEnded) this.#resolve?.(this.end())
      else if (piece.kind === 'broken' && this.open.call.leaving.hasLeft) this.#resolve?.(this.return())
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

  readonly #onBytes = (bytes: Bytes): void => {
    if (!this.#isSent(bytes)) this.#advance()
  }

  /**
   * Ends the stream as interrupted after an unexpected error. A blank line is sent first, so that an event that was
   * sent in part does not absorb the error event.
   */
  readonly #onFault = (fault: unknown): void => {
    const error = faultIn(fault)
    if (error.code === 'internal_error') this.warn(fault)
    const before = this.firstByteMs > 0 ? encoder.encode('\n\n') : undefined
    this.#fail(error, before).then(this.#onBytes, () => this.#reject?.(undefined))
  }

  #isSent(bytes: Bytes): boolean {
    if (bytes === undefined || bytes.length === 0) return false
    this.dueAtMs = unreadLimit(this.deps)
    this.#cost.noteDelivered()
    this.#resolve?.({ done: false, value: bytes })
    return true
  }

  protected async giveUp(): Promise<void> {
    if (this.#rescue) {
      this.open.call.leaving.giveUp()
      await this.#rescue.done.catch(this.warn)
    }
    const meter = this.#meter
    const { finished } = meter
    const late = {
      reader: this.#reader,
      splitter: this.#splitter,
      meter,
      clock: this.deps.deadlineWatch,
      limitMs: drainMs,
    }
    // If the rest cannot be read, the part that arrived before is still charged.
    await readLate(late).catch(this.warn)
    this.#reader.cancel()
    await this.#charge(finished ? 'complete' : 'aborted', '')
  }

  #take(piece: StreamPiece): Promise<Bytes> | Bytes {
    switch (piece.kind) {
      case 'chunk':
        return this.#chunk(piece.bytes)
      case 'ready':
        this.#begins(piece.bytes)
        return this.#cost.needsMore() ? this.#extend(piece.bytes) : piece.bytes
      case 'last':
        return this.#lastPiece(piece)
      case 'quiet':
        return this.#splitter.partlySent ? undefined : keepAliveFor(this.open.call.dialect)
      case 'fault':
        throw piece.fault
      case 'rescued':
        return this.#rescued()
      default:
        return this.#upstreamEnded(piece.kind)
    }
  }

  #chunk(bytes: Uint8Array): Promise<Bytes> | Bytes {
    const block = this.#splitter.push(bytes)
    this.#isContinued = block.firstRest !== undefined
    const { bytes: whole, end } = passOn(block, this.#meter, this.#withholdUsage)
    if (end?.signal === 'done') return this.#done(whole, end.bytes)
    if (end?.signal === 'error') return this.#upstreamError(whole, () => end.event)
    if (end) return this.#broke(unreadablePart(), whole)
    const out = joined(whole, block.early)
    this.#begins(out)
    return this.#cost.needsMore() ? this.#extend(out) : out
  }

  #lastPiece(piece: StreamPiece & { kind: 'last' }): Promise<Bytes> | Bytes {
    if (piece.outcome === 'done') return this.#complete(piece.bytes, nothing, piece.end)
    return piece.outcome === 'error' ? this.#upstreamError(undefined, piece.write) : this.#broke(unreadablePart())
  }

  #broke(error: GatewayError, before?: Bytes): Promise<Bytes> | Bytes {
    return this.#rescueOr((sent) => this.#fail(error, sent), error, before)
  }

  /** Called when the stream broke off. Another attempt continues it if possible. Otherwise, `end` ends it. */
  #rescueOr(end: EndBroken, error: GatewayError, before: Bytes): Promise<Bytes> | Bytes {
    const rescuer = this.#rescuer
    const { open } = this
    if (!rescuer?.isPossible || this.#splitter.partlySent || open.call.leaving.hasLeft) return end(before)
    this.#begins(before)
    this.#reader.cancel()
    noteEnded(this.deps, open, 'faulty')
    const broken = { open, meter: this.#meter, firstByteMs: this.firstByteMs, error }
    const done = rescuer.goOn(broken).then((next) => {
      if (next) this.#goOn(next)
      // The attempt has set its own action for a disconnect, so the action of this stream is set again.
      open.call.leaving.onLeave(() => this.leave())
      return next
    })
    this.#rescue = { done, end }
    this.#reader = new WaitingReader(this.deps, done)
    return before
  }

  #rescued(): Promise<Bytes> | Bytes {
    // If another attempt was found, the call continues with the reader of that attempt. Otherwise, the stream ends.
    return this.#rescue?.end(undefined)
  }

  #goOn({ open, reader, meter }: NextPart): void {
    this.#rescue = undefined
    this.open = open
    this.#reader = reader
    this.#meter = meter
    this.#splitter = new SseSplitter()
    this.#cost = new RunningCost(this.deps, open, meter)
  }

  async #extend(out: Bytes): Promise<Bytes> {
    const shortage = await this.#shortage()
    return shortage && !this.hasEnded ? this.#exhausted(shortage, out) : out
  }

  /** Takes more quota for the output so far. Returns an error if too little quota is left. */
  async #shortage(): Promise<GatewayError | undefined> {
    const open = this.open
    const deps = this.deps
    const cost = this.#cost
    const missing = cost.units(deps.settings().PreConsumedQuota) - open.hold.amount
    const failed = await open.hold.extend(missing, cost.units(0), { channelId: open.channel.id, ...cost.tokens }).then(
      () => undefined,
      (error: GatewayError) => error,
    )
    if (!cost.exceedsHold || cost.mayOverdraw()) return undefined
    // The estimate tends to be too high, so the tokens are counted before the response is ended for lack of quota.
    await cost.count()
    if (!cost.exceedsHold) return undefined
    return failed ?? new GatewayError('quota_exhausted_mid_stream', 'the quota ran out during the response')
  }

  /** Ends the stream for lack of quota. Output beyond the quota is not sent or charged, unless part of it was sent. */
  #exhausted(shortage: GatewayError, out: Bytes): Promise<Uint8Array> {
    return this.#isContinued ? this.#fail(shortage, out) : this.#fail(shortage, undefined, this.#cost.delivered)
  }

  /** Handles the end marker. If only keep-alives have been sent before it, the response is not complete. */
  #done(before: Bytes, last: Uint8Array): Promise<Uint8Array> {
    const hasSaid = this.firstByteMs > 0 || (before !== undefined && before.length > 0)
    const isEmpty = !hasSaid && this.#meter.usage === undefined && !this.#meter.speaks
    return isEmpty ? this.#fail(new GatewayError(...endings.end)) : this.#complete(before, last)
  }

  /** Ends a complete response. `end` writes the last bytes when the charged usage is known. */
  async #complete(before: Bytes, last: Uint8Array, end?: WriteEnd): Promise<Uint8Array> {
    this.hasEnded = true
    this.#reader.drain(drainMs)
    const isShort = this.#cost.hasUndelivered && (await this.#cost.exceedsAtEnd())
    const shortage = isShort ? await this.#shortage() : undefined
    if (shortage) return this.#exhausted(shortage, before)
    const out = closedUp(before, last)
    this.#begins(out, end !== undefined)
    // In some dialects, the end repeats the complete response.
    this.#lastLength = out.length + (end ? this.#meter.characters + this.#meter.extraBytes : 0)
    const { usage, isCounted } = await this.#charge('complete', '')
    return end ? (joined(out, encoder.encode(end(isCounted ? usage : undefined))) as Uint8Array) : out
  }

  /**
   * Passes on an error event of the upstream, without an end marker. If the caller's client would not recognise the
   * event as an error, the gateway's own error event follows.
   */
  #upstreamError(before: Bytes, write: () => string | undefined): Promise<Bytes> | Bytes {
    // The status is 200, because the response began with a success status.
    const failed = failureInStream(this.#meter, 200, this.open.channel.upstream.key)
    const end: EndBroken = (rest) => this.#failedUpstream(rest, write, failed)
    return failed.verdict.retry ? this.#rescueOr(end, failed.error, before) : end(before)
  }

  async #failedUpstream(before: Bytes, write: () => string | undefined, failed: AttemptFailed): Promise<Uint8Array> {
    const event = write()
    if (event === undefined) return this.#fail(unreadablePart(), before)
    this.hasEnded = true
    this.#begins(before)
    this.#reader.cancel()
    if (!this.#rescue) {
      const { upstreamFault, retry } = failed.verdict
      noteEnded(this.deps, this.open, upstreamFault ? 'faulty' : 'undecided', retry)
      // The log row gets this message, even if the caller gets a different one.
      const attempt = this.open.call.state.attempts.at(-1)
      if (attempt) attempt.error = failed.error.message
    }
    const charged = await this.#charge('interrupted', 'upstream_stream_error')
    const own = ownErrorAfter(event, failed, this.open.call.dialect)
    const passed = passedError(event, failed, this.open)
    return joined(before, encoder.encode(passed + (own ? this.#errorEvent(own, charged) : ''))) as Uint8Array
  }

  /**
   * Handles the end of the upstream's response. The text after the last blank line counts if it is a complete event.
   */
  #upstreamEnded(how: keyof typeof endings): Promise<Bytes> | Bytes {
    const meter = this.#meter
    const rest = this.#splitter.finish()
    const data = lastData(rest.text)
    const wasFinished = meter.finished
    const signal = data === undefined ? 'garbage' : meter.feed(data)
    const open = rest.bytes === undefined && rest.text !== ''
    const last = open ? '\n\n' : `data: ${(meter.instead ?? data)?.replaceAll('\n', '\ndata: ')}\n\n`
    if (signal === 'error') return this.#upstreamError(undefined, () => last)
    const isKept = signal === 'content' || (signal === 'usage-only' && !this.#withholdUsage)
    const before = isKept || open ? encoder.encode(last) : undefined
    if (signal === 'done' || wasFinished || meter.finished) return this.#complete(before, encoder.encode(meter.endMark))
    // An incomplete last event is not passed on, so that a truncated response does not look complete.
    const [code, message] = endings[how]
    this.#isOverdue = how === 'overdue'
    const error = new GatewayError(code, message)
    return how === 'overdue' || how === 'cut' ? this.#fail(error, before) : this.#broke(error, before)
  }

  /** Ends the stream with an error. Only `delivered` is charged; undefined = everything received. */
  async #fail(error: GatewayError, before?: Bytes, delivered?: Delivered): Promise<Uint8Array> {
    const open = this.open
    const endsMidEvent = before === undefined && this.#splitter.partlySent
    this.hasEnded = true
    this.#begins(before)
    this.#reader.cancel()
    // The limit for the whole call is set by the gateway. An upstream that is still sending when this limit is reached
    // is not faulty.
    const isFaulty = error.type === 'upstream_error' && !this.#isOverdue
    noteEnded(this.deps, open, isFaulty ? 'faulty' : 'undecided')
    const event = this.#errorEvent(error, await this.#charge('interrupted', error.code, delivered))
    return joined(before, encoder.encode(endsMidEvent ? `\n\n${event}` : event)) as Uint8Array
  }

  #errorEvent(error: GatewayError, charged: ChargedUsage): string {
    return failedEnd(this.open.call, this.#reader, this.#meter, error, charged)
  }

  /** Charges for the delivered part. */
  #charge(outcome: Outcome, code: string, delivered?: Delivered): Promise<ChargedUsage> {
    return this.settle(() => this.#chargeOnce(outcome, code, delivered))
  }

  async #chargeOnce(outcome: Outcome, code: string, delivered?: Delivered): Promise<ChargedUsage> {
    const { deps, open } = this
    this.letGo()
    // If the stream was interrupted, the channel's health has already been recorded.
    if (outcome !== 'interrupted') noteEnded(deps, open, outcome === 'complete' ? 'well' : 'undecided')
    const ending = { outcome, code, firstByteMs: this.firstByteMs, isOverdue: this.#isOverdue, delivered }
    try {
      return await settleStream(deps, open, this.#meter, ending)
    } finally {
      open.call.leaving.answered(this.#lastLength)
    }
  }

  #begins(bytes: Bytes, hasMore = false): void {
    if (hasMore || (bytes && bytes.length > 0)) this.begin()
  }
}
