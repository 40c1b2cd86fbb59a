import type { Socket } from 'node:net'

/** Writes to a socket with back-pressure, and detects when the peer has gone. */
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

  /** Aborts when the peer has closed, half-closed or reset the connection. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** Resolves with true when the kernel has accepted the bytes, and with false if the peer has gone. */
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

  /** Sends FIN after what was written so far. The other direction is closed shortly after that. */
  fin(): void {
    this.#socket.end(() => setTimeout(() => this.#socket.destroy(), 100).unref())
  }

  /** Sends RST. Bytes that have not been delivered yet are lost. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }
}
