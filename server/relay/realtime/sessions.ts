import { TurnMemory } from './turn-memory.ts'

/** The operations on an open session. */
export interface OpenSession {
  /** Ends the session once no response is in progress. */
  drain(): void
  /** Ends the session now. Resolves once the session has been charged. */
  cutOff(): Promise<void>
}

/** The sessions of this process, so that they can be ended when it shuts down. */
export class RealtimeSessions {
  /** The responses from which sockets of the Responses API can continue. */
  readonly memory = new TurnMemory()
  readonly #open = new Set<OpenSession>()
  readonly #counts = new Map<number, number>()
  #isDraining = false

  add(session: OpenSession): void {
    this.#open.add(session)
    if (this.#isDraining) session.drain()
  }

  remove(session: OpenSession): void {
    this.#open.delete(session)
  }

  /**
   * Counts a socket of a token, and returns the function to call when the socket is closed. Undefined if the token
   * already has `most` sockets in this process. If `most` is 0, there is no limit.
   */
  claim(tokenId: number, most: number): (() => void) | undefined {
    const count = this.#counts.get(tokenId) ?? 0
    if (most > 0 && count >= most) return undefined
    this.#counts.set(tokenId, count + 1)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      const left = (this.#counts.get(tokenId) ?? 1) - 1
      if (left > 0) this.#counts.set(tokenId, left)
      else this.#counts.delete(tokenId)
    }
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
