/** The caller left while the upstream had its request. The upstream request is stopped, and the prompt is charged. */
export class CallerLeft extends Error {
  constructor() {
    super('the caller left')
  }
}

/** Bytes or characters that fit into any buffer. */
const bufferedLength = 64 * 1024

/**
 * Watches during the whole call for the caller to leave; the code in charge sets what is done then. A signal has only
 * one of these, and nothing else sets its `onabort`.
 */
export class Leaving {
  #action: (() => void) | undefined
  readonly #signal: AbortSignal
  readonly #ended: (() => void) | undefined

  /** `ended`: called when the answer has been sent. */
  constructor(signal: AbortSignal, ended?: () => void) {
    this.#signal = signal
    this.#ended = ended
    // Cheaper than a listener that is added and removed.
    signal.onabort = () => this.act()
  }

  get hasLeft(): boolean {
    return this.#signal.aborted
  }

  /**
   * Sets what is done when the caller leaves, instead of what was set before (undefined = nothing). It is done at once
   * if the caller has already left.
   */
  onLeave(action: (() => void) | undefined): void {
    this.#action = action
    if (this.hasLeft) action?.()
  }

  /** Does what was set, as if the caller had left. */
  act(): void {
    this.#action?.()
  }

  /** The call is over. A handler that stayed would keep signal and call in memory until a full garbage collection. */
  close(): void {
    this.#action = undefined
    this.#signal.onabort = null
  }

  /**
   * The answer has been sent, except for a last part of that length. A long last part may take long to reach a slow
   * reader, and nothing reports when it has arrived.
   */
  answered(lastLength = 0): void {
    if (lastLength <= bufferedLength) this.#ended?.()
  }
}
