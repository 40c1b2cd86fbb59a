/** What can be asked of an open session. */
export interface OpenSession {
  /** Ends once nothing is being said. */
  drain(): void
  /** Ends now; resolves when it is charged. */
  cutOff(): Promise<void>
}

/** The sessions of this process, so that its end can be theirs. */
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

  /** From now on sessions end as soon as nothing is being said. */
  drain(): void {
    this.#isDraining = true
    for (const session of this.#open) session.drain()
  }

  /** Ends all that are left; resolves when they are charged. */
  async cutOff(): Promise<void> {
    await Promise.all([...this.#open].map((session) => session.cutOff()))
  }
}
