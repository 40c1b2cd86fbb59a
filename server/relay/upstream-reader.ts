import type { IdleWait, IdleWatch } from './idle-watch.ts'

/** What came next from the upstream. `quiet`: nothing for a keep-alive interval; the read goes on. */
export type UpstreamPiece =
  | { kind: 'chunk'; bytes: Uint8Array }
  | { kind: 'end' }
  | { kind: 'broken'; cause: unknown }
  | { kind: 'quiet' }
  | { kind: 'stalled' }

interface Limits {
  /** Longest silence; 0 = any. */
  idleMs: number
  /** Report `quiet` after this long without a piece; 0 = never. */
  keepAliveMs: number
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
  #reading: Promise<UpstreamPiece> | undefined
  #wake: (() => void) | undefined
  #silentSinceMs: number

  constructor(body: ReadableStream<Uint8Array>, watch: IdleWatch, limits: Limits) {
    this.#reader = body.getReader()
    this.#watch = watch
    this.#limits = limits
    this.#silentSinceMs = limits.nowMs()
    this.#wait = { dueAtMs: never, due: () => this.#wake?.() }
    watch.add(this.#wait)
  }

  /** Waits for the next piece. */
  async next(): Promise<UpstreamPiece> {
    const { idleMs, keepAliveMs, nowMs } = this.#limits
    const startedMs = nowMs()
    if (!this.#reading) {
      // Only waiting for the upstream counts as its silence, not the time the caller took to read.
      this.#silentSinceMs = startedMs
      this.#reading = this.#read()
    }
    const idleAtMs = idleMs > 0 ? this.#silentSinceMs + idleMs : never
    this.#wait.dueAtMs = Math.min(idleAtMs, keepAliveMs > 0 ? startedMs + keepAliveMs : never)
    const due = new Promise<undefined>((resolve) => {
      this.#wake = () => resolve(undefined)
    })
    const piece = await Promise.race([this.#reading, due])
    this.#wait.dueAtMs = never
    if (piece) {
      this.#reading = undefined
      return piece
    }
    return nowMs() >= idleAtMs ? { kind: 'stalled' } : { kind: 'quiet' }
  }

  /** Stops reading; the upstream's connection is given up. */
  cancel(): void {
    this.close()
    this.#reader.cancel().catch(() => undefined)
  }

  /** Frees the watch after the end. */
  close(): void {
    this.#watch.remove(this.#wait)
  }

  async #read(): Promise<UpstreamPiece> {
    try {
      for (;;) {
        const { done, value } = await this.#reader.read()
        if (done) return { kind: 'end' }
        if (value && value.length > 0) return { kind: 'chunk', bytes: value }
      }
    } catch (cause) {
      return { kind: 'broken', cause }
    }
  }
}
