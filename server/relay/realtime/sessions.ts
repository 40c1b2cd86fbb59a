/** The operations on an open session. */
export interface OpenSession {
  /** Ends the session once no response is in progress. */
  drain(): void
  /** Ends the session now. Resolves once the session has been charged. */
  cutOff(): Promise<void>
}

/** The sessions of this process, so that they can be ended when it shuts down. */
export class RealtimeSessions {
  readonly #open = new Set<OpenSession>()
  #isDraining = false

  add(session: OpenSession): void {
    this.#open.add(session)
    if (this.#isDraining) session.drain()
  }

  remove(session: OpenSession): void {
    this.#open.delete(session)
  }

  /** From now on, sessions end as soon as no response is in progress. */
  drain(): void {
    this.#isDraining = true
    for (const session of this.#open) session.drain()
  }

  /** Ends all remaining sessions. Resolves once they have been charged. */
  async cutOff(): Promise<void> {
    await Promise.all([...this.#open].map((session) => session.cutOff()))
  }
}
