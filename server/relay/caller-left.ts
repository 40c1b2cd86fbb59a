/** The caller left while the upstream had its request: the upstream is stopped, and the prompt is charged. */
export class CallerLeft extends Error {
  constructor() {
    super('the caller left')
  }
}

/** Watches with one listener for the whole call; whoever is in charge of it says what is to be done. */
export class Leaving {
  /** Called once when the caller leaves. */
  action: (() => void) | undefined
  readonly #signal: AbortSignal
  readonly #listener = (): void => this.action?.()

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#listener, { once: true })
  }

  get hasLeft(): boolean {
    return this.#signal.aborted
  }

  /** The call is over. A listener that stays would keep signal and call in memory until everything is collected. */
  close(): void {
    this.action = undefined
    this.#signal.removeEventListener('abort', this.#listener)
  }
}
