/**
 * The caller disconnected while the upstream was handling the request. The upstream request is stopped, and the prompt
 * is charged.
 */
export class CallerLeft extends Error {
  constructor() {
    super('the caller left')
  }
}

/** A last part of at most this many bytes or characters fits into the send buffers. */
const bufferedLength = 64 * 1024

/**
 * Watches during the whole call for the caller to disconnect. The code currently in charge sets the action to take
 * then. A signal has only one `Leaving`, and nothing else sets its `onabort`.
 */
export class Leaving {
  #action: (() => void) | undefined
  #isGivenUp = false
  readonly #signal: AbortSignal
  readonly #ended: (() => void) | undefined

  /** `ended` is called when the response has been sent. */
  constructor(signal: AbortSignal, ended?: () => void) {
    this.#signal = signal
    this.#ended = ended
    // This is cheaper than adding and removing a listener.
    signal.onabort = () => this.act()
  }

  /** True if the caller has disconnected or was given up. */
  get hasLeft(): boolean {
    return this.#isGivenUp || this.#signal.aborted
  }

  /**
   * Sets the action to take when the caller disconnects, in place of the previous one (undefined = none). If the caller
   * has already disconnected, the action is taken at once.
   */
  onLeave(action: (() => void) | undefined): void {
    this.#action = action
    if (this.hasLeft) action?.()
  }

  /** Takes the action that was set, as if the caller had disconnected. */
  act(): void {
    this.#action?.()
  }

  /** Treats the caller as one who has disconnected from now on, because the caller does not read. */
  giveUp(): void {
    this.#isGivenUp = true
    this.act()
  }

  /**
   * Must be called when the call is over. A handler left in place would keep the signal and the call in memory until a
   * full garbage collection.
   */
  close(): void {
    this.#action = undefined
    this.#signal.onabort = null
  }

  /**
   * Must be called when the response has been sent, except for a last part of length `lastLength`. A long last part may
   * take a while to reach a slow reader, and nothing reports when it has arrived.
   */
  answered(lastLength = 0): void {
    if (lastLength <= bufferedLength) this.#ended?.()
  }
}
