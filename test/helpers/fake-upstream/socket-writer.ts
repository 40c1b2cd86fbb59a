import type { Socket } from 'node:net'

/** Writes to a socket with back-pressure, and knows when the peer has gone. */
export class SocketWriter {
  readonly #socket: Socket
  readonly #gone = new AbortController()

  constructor(socket: Socket) {
    this.#socket = socket
    const leave = () => this.#gone.abort()
    socket.on('end', leave)
    socket.on('close', leave)
    socket.on('error', leave)
  }

  /** Aborted when the peer closed, half-closed or reset the connection. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** Resolves when the kernel took the bytes; false when the peer has gone. */
  async write(bytes: string | Uint8Array): Promise<boolean> {
    if (this.#gone.signal.aborted || this.#socket.destroyed) return false
    if (this.#socket.write(bytes)) return true
    await new Promise<void>((resolve) => {
      const finish = () => {
        this.#socket.off('drain', finish)
        this.#gone.signal.removeEventListener('abort', finish)
        resolve()
      }
      this.#socket.on('drain', finish)
      this.#gone.signal.addEventListener('abort', finish, { once: true })
    })
    return !this.#gone.signal.aborted
  }

  /** FIN after what was written so far; the rest of the connection follows shortly after. */
  fin(): void {
    this.#socket.end(() => setTimeout(() => this.#socket.destroy(), 100).unref())
  }

  /** RST: what was not delivered yet is lost. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }
}
