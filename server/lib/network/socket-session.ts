/** The caller's end of a WebSocket, as offered by the server that accepted it. */
export interface CallerSocket {
  /** False if the message waits because the caller reads too slowly; `drained` tells when it has caught up. */
  send(data: string | Uint8Array): boolean
  /** Stops reading the caller's messages, so that it has to wait. */
  pause(): void
  resume(): void
  /** 1005 and 1006 close without a code. */
  close(code: number, reason: string): void
  /** Drops the connection without a close frame. */
  terminate(): void
}

/** Handlers for a WebSocket once it is open. */
export interface SocketSession {
  opened(socket: CallerSocket): void
  message(data: string | Uint8Array): void
  /** Everything that waited for the caller has been sent. */
  drained(): void
  /** The connection is over: closed by either side, or lost (1006). */
  closed(code: number, reason: string): void
}

/** Upgrades a request to a WebSocket; the headers go with the answer. False if that is no longer possible. */
export type Upgrade = (session: SocketSession, headers: Readonly<Record<string, string>>) => boolean
