/** The caller's end of a WebSocket, as the server that accepted it offers it. */
export interface CallerSocket {
  /** False when the message waits because the caller reads too slowly; `drained` tells when it has caught up. */
  send(data: string | Uint8Array): boolean
  /** Stops reading what the caller sends, so that it has to wait. */
  pause(): void
  resume(): void
  /** 1005 and 1006 close without a code. */
  close(code: number, reason: string): void
  /** Ends the connection without a word. */
  terminate(): void
}

/** What is done with a WebSocket once it stands. */
export interface SocketSession {
  opened(socket: CallerSocket): void
  message(data: string | Uint8Array): void
  /** What waited for the caller has been sent. */
  drained(): void
  /** The connection is over: closed by either side, or lost (1006). */
  closed(code: number, reason: string): void
}

/** Turns a request into a WebSocket; the headers go with the answer. False when that cannot be done any more. */
export type Upgrade = (session: SocketSession, headers: Readonly<Record<string, string>>) => boolean
