/** The caller left while the upstream had its request: the upstream is stopped, and the prompt is charged. */
export class CallerLeft extends Error {
  constructor() {
    super('the caller left')
  }
}

/** Bytes or characters that any buffer takes. */
const bufferedLength = 64 * 1024

/**
 * Watches for the whole call; whoever is in charge of it says what is to be done. A signal has one of these, and nobody else
 * sets its `onabort`.
 */
export class Leaving {
  /** Called once when the caller leaves. */
  action: (() => void) | undefined
  readonly #signal: AbortSignal
  readonly #ended: (() => void) | undefined

  /** `ended`: called when the answer has gone out. */
  constructor(signal: AbortSignal, ended?: () => void) {
    this.#signal = signal
    this.#ended = ended
    // Cheaper than a listener that is added and removed.
    signal.onabort = () => this.action?.()
  }

  get hasLeft(): boolean {
    return this.#signal.aborted
  }

  /** The call is over. A handler that stays would keep signal and call in memory until everything is collected. */
  close(): void {
    this.action = undefined
    this.#signal.onabort = null
  }

  /**
   * The answer has gone out, but for a last part of that length. A long one may be on its way to a slow reader for long, and
   * nobody tells when it has arrived.
   */
  answered(lastLength = 0): void {
    if (lastLength <= bufferedLength) this.#ended?.()
  }
}
