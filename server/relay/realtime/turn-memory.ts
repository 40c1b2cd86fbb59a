/**
 * One response that was sent over a WebSocket: its id, and the conversation up to the end of the response, as the JSON
 * text of a list of items.
 */
export interface Turn {
  id: string
  items: string
  /** The number of lists and objects in the input of the response. */
  containers: number
}

/** The maximum total length, in characters, of the conversations of all sockets of this process. */
const mostCharacters = 64_000_000

/**
 * Remembers the last response of each socket. The next turn can then continue from it by sending only new items, even
 * if no service stored the response. If the total length of the conversations exceeds a limit, the oldest are
 * forgotten, and their clients send them again.
 */
export class TurnMemory {
  readonly #turns = new Map<object, Turn>()
  readonly #most: number
  #characters = 0

  constructor(most = mostCharacters) {
    this.#most = most
  }

  keep(socket: object, turn: Turn): void {
    this.forget(socket)
    this.#turns.set(socket, turn)
    this.#characters += turn.items.length
    for (const [oldest] of this.#turns) {
      if (this.#characters <= this.#most) break
      this.forget(oldest)
    }
  }

  find(socket: object, id: string): Turn | undefined {
    const turn = this.#turns.get(socket)
    return turn?.id === id ? turn : undefined
  }

  forget(socket: object): void {
    const turn = this.#turns.get(socket)
    if (!turn) return
    this.#turns.delete(socket)
    this.#characters -= turn.items.length
  }
}
