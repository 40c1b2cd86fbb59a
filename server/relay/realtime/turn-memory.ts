/** One response within a WebSocket: its id, and the conversation up to its end, as the text of a list of items. */
export interface Turn {
  id: string
  items: string
  /** The number of lists and objects in the input that led to the items. */
  containers: number
}

/** The limit, in characters, for the conversations of all sockets of this process. */
const mostCharacters = 64_000_000

/**
 * Remembers the last response of each socket, so that the next turn can continue from it with only its new items,
 * whether or not a service stored it. If there is too much to remember, the oldest conversations are forgotten, and
 * their clients send them again.
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
