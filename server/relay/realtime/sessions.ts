/** The operations on an open session. */
export interface OpenSession {
  /** Ends once no response is in progress. */
  drain(): void
  /** Ends now; resolves once it is charged. */
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

  /** Ends all that are left; resolves once they are charged. */
  async cutOff(): Promise<void> {
    await Promise.all([...this.#open].map((session) => session.cutOff()))
  }
}
