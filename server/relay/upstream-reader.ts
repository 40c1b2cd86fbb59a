import type { IdleWait, IdleWatch } from './idle-watch.ts'

/**
 * What came next from the upstream. `quiet`: nothing for a keep-alive interval; the read goes on. `stalled`: nothing
 * for longer than is waited for. `overdue`: the whole answer takes too long.
 */
export type UpstreamPiece =
  | { kind: 'chunk'; bytes: Uint8Array }
  | { kind: 'end' }
  | { kind: 'broken'; cause: unknown }
  | { kind: 'quiet' }
  | { kind: 'stalled' }
  | { kind: 'overdue' }

interface Limits {
  /** Longest silence; 0 = any. */
  idleMs: number
  /** Report `quiet` after this long without a piece; 0 = never. */
  keepAliveMs: number
  /** When the answer must have ended, in milliseconds of the clock. */
  deadlineMs: number
  nowMs: () => number
}

/** The two calls of a stream reader that are used here. */
interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

const never = Number.POSITIVE_INFINITY

/**
 * Reads an upstream body piece by piece, one read at a time, so that a caller who does not read stops the upstream too.
 */
export class UpstreamReader {
  readonly #reader: BodyReader
  readonly #watch: IdleWatch
  readonly #limits: Limits
  readonly #wait: IdleWait
  #reading = false
  /** Came while nobody waited. */
  #ready: UpstreamPiece | undefined
  #answer: ((piece: UpstreamPiece) => void) | undefined
  #silentSinceMs: number
  #idleAtMs = never

  constructor(body: ReadableStream<Uint8Array>, watch: IdleWatch, limits: Limits) {
    this.#reader = body.getReader()
    this.#watch = watch
    this.#limits = { ...limits }
    this.#silentSinceMs = limits.nowMs()
    this.#wait = { dueAtMs: never, due: () => this.#due() }
    watch.add(this.#wait)
  }

  /** Waits for the next piece. */
  next(): Promise<UpstreamPiece> {
    const { idleMs, keepAliveMs, deadlineMs, nowMs } = this.#limits
    const startedMs = nowMs()
    if (startedMs >= deadlineMs) return Promise.resolve({ kind: 'overdue' })
    const ready = this.#ready
    if (ready) {
      this.#ready = undefined
      return Promise.resolve(ready)
    }
    if (!this.#reading) {
      // Only waiting for the upstream counts as its silence, not the time the caller took to read.
      this.#silentSinceMs = startedMs
      this.#read()
    }
    this.#idleAtMs = idleMs > 0 ? this.#silentSinceMs + idleMs : never
    this.#wait.dueAtMs = Math.min(this.#idleAtMs, deadlineMs, keepAliveMs > 0 ? startedMs + keepAliveMs : never)
    return new Promise((resolve) => {
      this.#answer = resolve
    })
  }

  /** Stops reading; the upstream's connection is given up. */
  cancel(): void {
    this.close()
    this.#reader.cancel().catch(() => undefined)
  }

  /**
   * The answer is complete; what is still to come is its formal end. It is read, so that the connection can be used
   * again, but not for longer than `limitMs`.
   */
  drain(limitMs: number): void {
    const startedMs = this.#limits.nowMs()
    const step = async (): Promise<void> => {
      const piece = await this.next()
      if (piece.kind === 'chunk' && this.#limits.nowMs() - startedMs < limitMs) return step()
      if (piece.kind === 'end') this.close()
      else this.cancel()
    }
    this.hurry(limitMs)
    void step()
  }

  /** From now on a wait longer than this is reported as `quiet`. */
  hurry(limitMs: number): void {
    this.#limits.keepAliveMs = limitMs
  }

  /** Frees the watch after the end. */
  close(): void {
    this.#watch.remove(this.#wait)
  }

  /** Reads to the end, or until something keeps it from that, but no more than about `limitBytes`. */
  async collect(limitBytes: number): Promise<{ bytes: Buffer; ending: 'too-long' | UpstreamPiece['kind'] }> {
    const parts: Uint8Array[] = []
    let length = 0
    for (;;) {
      const piece = await this.next()
      if (piece.kind === 'quiet') continue
      if (piece.kind !== 'chunk') {
        this.cancel()
        return { bytes: Buffer.concat(parts), ending: piece.kind }
      }
      length += piece.bytes.length
      // The runtime may reuse the memory of a piece when the next is read.
      parts.push(piece.bytes.slice())
      if (length <= limitBytes) continue
      this.cancel()
      return { bytes: Buffer.concat(parts), ending: 'too-long' }
    }
  }

  /** Starts one read; its piece goes to who waits, or is kept for who asks next. */
  #read(): void {
    this.#reading = true
    this.#reader.read().then(
      ({ done, value }) => {
        if (done) this.#arrived({ kind: 'end' })
        else if (value && value.length > 0) this.#arrived({ kind: 'chunk', bytes: value })
        else this.#read()
      },
      (cause: unknown) => this.#arrived({ kind: 'broken', cause }),
    )
  }

  #arrived(piece: UpstreamPiece): void {
    this.#reading = false
    if (this.#answer) this.#give(piece)
    else this.#ready = piece
  }

  #give(piece: UpstreamPiece): void {
    const answer = this.#answer
    this.#answer = undefined
    this.#wait.dueAtMs = never
    answer?.(piece)
  }

  /** Somebody has waited long enough to be told; the read goes on. */
  #due(): void {
    const now = this.#limits.nowMs()
    if (now >= this.#limits.deadlineMs) this.#give({ kind: 'overdue' })
    else this.#give({ kind: now >= this.#idleAtMs ? 'stalled' : 'quiet' })
  }
}
