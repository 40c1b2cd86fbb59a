import type { Usage } from '../../../contract/usage.ts'
import type { Outcome } from '../../events.ts'
import type { RelayDeps } from '../call/deps.ts'
import { type Measured, measure } from '../charging/measure.ts'
import { type OpenCall, orRelease, settle } from '../charging/settlement.ts'
import { noteHealth } from '../failures/note-health.ts'
import type { UpstreamPiece, UpstreamReader } from '../upstream/upstream-reader.ts'
import { AnswerBody, atEnd, brokenOff, never, type Step, unreadLimit } from './answer-body.ts'

/**
 * The body of an audio response. Its price or usage is known in advance, so only the last piece waits for the charge.
 * An audio response cannot report an error in an event. If the connection to the upstream is lost, the response breaks
 * off and costs nothing.
 */
export class BinaryStream extends AnswerBody<void> {
  readonly #reader: UpstreamReader
  readonly #reported: Usage | undefined
  #first: UpstreamPiece | undefined
  /** A piece that is held back until it is known whether it is the last one. */
  #kept: Uint8Array | undefined

  /**
   * @param first the piece that was already read to check that the upstream responds
   * @param reported the usage that the upstream reports, unchecked
   */
  constructor(
    deps: RelayDeps,
    open: OpenCall,
    reader: UpstreamReader,
    first: UpstreamPiece,
    reported: Usage | undefined,
  ) {
    super(deps, open)
    this.#reader = reader
    this.#first = first
    this.#reported = reported
    this.watchCaller()
  }

  async next(): Promise<Step> {
    this.dueAtMs = never
    while (!this.hasEnded) {
      const piece = this.#first ?? (await this.#reader.next())
      this.#first = undefined
      // The caller may have disconnected during the wait for this piece. In that case, `giveUp` settles the call.
      if (this.hasEnded) break
      if (piece.kind === 'quiet') continue
      if (piece.kind === 'broken' && this.open.call.leaving.hasLeft) return this.return()
      if (piece.kind === 'chunk') {
        this.begin()
        const ready = this.#kept
        this.#kept = piece.bytes.slice()
        if (!ready) continue
        this.dueAtMs = unreadLimit(this.deps)
        return { done: false, value: ready }
      }
      this.hasEnded = true
      this.#reader.cancel()
      if (piece.kind !== 'end') return this.#breakOff(piece.kind)
      await this.#charge('complete')
      return this.#kept ? { done: false, value: this.#kept } : atEnd
    }
    return this.end()
  }

  protected giveUp(): Promise<void> {
    this.#reader.cancel()
    return this.#charge('aborted')
  }

  /**
   * Ends an incomplete response. If the gateway's own time limit ended the response, the upstream is not at fault and
   * charges for the response, so the caller pays for the delivered part. In all other cases, the hold is released.
   */
  async #breakOff(how: UpstreamPiece['kind']): Promise<never> {
    const { call, channel } = this.open
    const isOverdue = how === 'overdue'
    this.deps.events.attemptFailed({
      requestId: call.requestId,
      channelId: channel.id,
      model: call.facts.model,
      status: 200,
      reason: isOverdue ? 'upstream_timeout' : 'upstream_stream_error',
      cause: 'the response was interrupted',
    })
    if (isOverdue) {
      await this.#charge('interrupted')
    } else {
      this.letGo()
      noteHealth(this.deps, this.open, how === 'cut' ? 'undecided' : 'faulty')
      await this.open.hold.release()
      call.leaving.answered()
    }
    return brokenOff()
  }

  #charge(outcome: Outcome): Promise<void> {
    return this.settle(() => this.#chargeOnce(outcome))
  }

  async #chargeOnce(outcome: Outcome): Promise<void> {
    this.letGo()
    noteHealth(this.deps, this.open, outcome === 'complete' ? 'well' : 'undecided')
    try {
      const found = await orRelease(this.open, () => this.#measured())
      await settle(this.deps, this.open, {
        measure: found.measure,
        outcome,
        code: '',
        firstByteMs: this.firstByteMs,
        ...(found.note && { note: found.note }),
      })
    } finally {
      // After a complete response, the piece that was held back has not been sent yet.
      this.open.call.leaving.answered(outcome === 'complete' ? this.#kept?.length : 0)
    }
  }

  #measured(): Measured | Promise<Measured> {
    const reported = this.#reported
    if (!reported)
      return { measure: { usage: { promptTokens: 0, completionTokens: 0 }, estimated: true }, note: undefined }
    // Audio counts as at least one token, so that a reported usage of zero is rejected.
    const media = { audio: 1, images: 0 }
    return measure(this.deps, this.open, { usage: undefined, reported, output: () => '', media })
  }
}
