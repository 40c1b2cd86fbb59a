import type { DeadlineWait, DeadlineWatch } from '../cancellation/deadline-watch.ts'

/**
 * The next piece from the upstream:
 * - `quiet`: nothing arrived for a keep-alive interval, and reading continues
 * - `stalled`: the upstream was silent for longer than allowed
 * - `overdue`: the time limit for the whole response has passed
 * - `cut`: this process is shutting down
 */
export type UpstreamPiece =
  | { kind: 'chunk'; bytes: Uint8Array }
  | { kind: 'end' }
  | { kind: 'broken'; cause: unknown }
  | { kind: 'quiet' }
  | { kind: 'stalled' }
  | { kind: 'overdue' }
  | { kind: 'cut' }

/** How long a response may take. */
export interface ReadLimits {
  /** The longest silence allowed; 0 = no limit. */
  idleMs: number
  /** Report `quiet` after this long without a piece; 0 = never. */
  keepAliveMs: number
  /** When the response must have ended, in milliseconds on the watch's clock. */
  deadlineMs: number
  /** The maximum length of a returned piece, in bytes; absent = pieces are returned as they arrive. */
  pieceBytes?: number
}

/** The two methods of a stream reader that are used here. */
interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

const never = Number.POSITIVE_INFINITY

/**
 * Reads an upstream body piece by piece, one read at a time, so that the upstream cannot send faster than the caller
 * reads. Thousands of these readers can wait at the same time, so the objects that a wait needs are created once and
 * not for each piece.
 */
export class UpstreamReader implements DeadlineWait {
  /** The time at which the watch calls `due`. */
  dueAtMs = never
  watchIndex: number | undefined
  readonly #reader: BodyReader
  readonly #watch: DeadlineWatch
  #limits: ReadLimits
  /** A wait of this length is reported as `quiet`. */
  #quietMs: number
  #reading = false
  /** A piece that arrived while no code was waiting for it. */
  #ready: UpstreamPiece | undefined
  #answer: ((piece: UpstreamPiece) => void) | undefined
  #silentSinceMs: number
  #idleAtMs = never
  #isCut = false

  constructor(body: ReadableStream<Uint8Array>, watch: DeadlineWatch, limits: ReadLimits) {
    this.#reader = body.getReader()
    this.#watch = watch
    this.#limits = limits
    this.#quietMs = limits.keepAliveMs
    this.#silentSinceMs = watch.nowMs()
    watch.add(this)
  }

  /** Waits for the next piece. */
  next(): Promise<UpstreamPiece> {
    return new Promise((resolve) => this.ask(resolve))
  }

  /**
   * Passes the next piece to `answer`, synchronously if the piece has already arrived. Only one call can wait at a
   * time.
   */
  ask(answer: (piece: UpstreamPiece) => void): void {
    if (this.#isCut) {
      answer({ kind: 'cut' })
      return
    }
    const { idleMs, deadlineMs } = this.#limits
    const nowMs = this.#watch.nowMs()
    if (nowMs >= deadlineMs) {
      answer({ kind: 'overdue' })
      return
    }
    const ready = this.#ready
    if (ready) {
      this.#ready = undefined
      answer(this.#part(ready))
      return
    }
    this.#answer = answer
    if (!this.#reading) {
      // Silence is measured only while waiting for the upstream. The time that the caller took to read does not count.
      this.#silentSinceMs = nowMs
      this.#read()
    }
    this.#idleAtMs = idleMs > 0 ? this.#silentSinceMs + idleMs : never
    this.dueAtMs = Math.min(this.#idleAtMs, deadlineMs, this.#quietMs > 0 ? nowMs + this.#quietMs : never)
  }

  /** Stops reading and closes the connection to the upstream. */
  cancel(): void {
    this.close()
    this.#reader.cancel().catch(() => undefined)
  }

  /**
   * Must be called when the content of the response is complete. Reads to the end of the body, for at most `limitMs`,
   * so that the connection can be reused.
   */
  drain(limitMs: number): void {
    const untilMs = this.#watch.nowMs() + limitMs
    const step = (piece: UpstreamPiece): void => {
      if (piece.kind === 'chunk' && this.#watch.nowMs() < untilMs) this.ask(step)
      else if (piece.kind === 'end') this.close()
      else this.cancel()
    }
    this.hurry(limitMs)
    this.ask(step)
  }

  /** Replaces the limits by less strict ones. */
  relax(limits: ReadLimits): void {
    this.#limits = { ...this.#limits, ...limits }
    this.#quietMs = limits.keepAliveMs
  }

  /** Sets the time without a piece after which `quiet` is reported. */
  hurry(limitMs: number): void {
    this.#quietMs = limitMs
  }

  /** Removes this reader from the deadline watch, because reading has ended. */
  close(): void {
    this.#watch.remove(this)
  }

  /** Reads to the end of the body, or until reading fails or about `limitBytes` have been read. */
  async collect(
    limitBytes: number,
  ): Promise<{ bytes: Buffer; ending: 'too-long' | UpstreamPiece['kind']; cause?: unknown }> {
    const parts: Uint8Array[] = []
    let length = 0
    for (;;) {
      const piece = await this.next()
      if (piece.kind === 'quiet') continue
      if (piece.kind !== 'chunk') {
        this.cancel()
        const cause = piece.kind === 'broken' && { cause: piece.cause }
        return { bytes: Buffer.concat(parts), ending: piece.kind, ...cause }
      }
      length += piece.bytes.length
      // The runtime may reuse the memory of a piece when the next one is read, so the piece is copied.
      parts.push(piece.bytes.slice())
      if (length <= limitBytes) continue
      this.cancel()
      return { bytes: Buffer.concat(parts), ending: 'too-long' }
    }
  }

  /** Starts one read. Its piece is passed to the waiting call, or kept for the next one. */
  #read(): void {
    this.#reading = true
    this.#reader.read().then(this.#onRead, this.#onBroken)
  }

  readonly #onRead = ({ done, value }: { done: boolean; value?: Uint8Array | undefined }): void => {
    if (done) this.#arrived({ kind: 'end' })
    else if (value && value.length > 0) this.#arrived({ kind: 'chunk', bytes: value })
    else this.#read()
  }

  readonly #onBroken = (cause: unknown): void => this.#arrived({ kind: 'broken', cause })

  #arrived(piece: UpstreamPiece): void {
    this.#reading = false
    if (this.#answer) this.#give(this.#part(piece))
    else this.#ready = piece
  }

  /** Returns the first part of a long piece. The rest is kept and returned by the next call. */
  #part(piece: UpstreamPiece): UpstreamPiece {
    const { pieceBytes } = this.#limits
    if (pieceBytes === undefined || piece.kind !== 'chunk' || piece.bytes.length <= pieceBytes) return piece
    this.#ready = { kind: 'chunk', bytes: piece.bytes.subarray(pieceBytes) }
    return { kind: 'chunk', bytes: piece.bytes.subarray(0, pieceBytes) }
  }

  #give(piece: UpstreamPiece): void {
    const answer = this.#answer
    this.#answer = undefined
    this.dueAtMs = never
    answer?.(piece)
  }

  cut(): void {
    this.#isCut = true
    this.#give({ kind: 'cut' })
    this.cancel()
  }

  /** Reports to the waiting call which time limit has been reached. After `quiet`, reading continues. */
  due(): void {
    const now = this.#watch.nowMs()
    if (now >= this.#limits.deadlineMs) this.#give({ kind: 'overdue' })
    else this.#give({ kind: now >= this.#idleAtMs ? 'stalled' : 'quiet' })
  }
}
