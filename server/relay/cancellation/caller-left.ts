/**
 * The error for a caller that disconnected while the upstream was handling the request. The upstream request is
 * stopped, and the prompt is charged.
 */
export class CallerLeft extends Error {
  constructor() {
    super('the caller left')
  }
}

/** The last part of a response fits into the send buffers if it has at most this many bytes or characters. */
const bufferedLength = 64 * 1024

/**
 * Watches for the caller to disconnect, during the whole call. The code that currently handles the call sets the action
 * to take in that case. Each signal has only one `Leaving`, and no other code sets its `onabort`.
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
    // Setting `onabort` is cheaper than adding and removing a listener.
    signal.onabort = () => this.act()
  }

  /** True if the caller has disconnected or `giveUp` has been called. */
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

  /** Runs the action that was set, as if the caller had disconnected. */
  act(): void {
    this.#action?.()
  }

  /** Treats a caller that does not read the response as disconnected from now on. */
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
   * Must be called when only the last part of the response, of length `lastLength`, has yet to be sent. If that part is
   * short, `ended` is called. A slow reader may receive a long part much later, and no event reports its arrival.
   */
  answered(lastLength = 0): void {
    if (lastLength <= bufferedLength) this.#ended?.()
  }
}
