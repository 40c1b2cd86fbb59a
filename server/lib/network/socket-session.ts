/** The caller's end of a WebSocket, as offered by the server that accepted it. */
export interface CallerSocket {
  /**
   * False if the message has to wait because the caller reads too slowly; `drained` is called when the caller has
   * caught up.
   */
  send(data: string | Uint8Array): boolean
  /** Stops reading the caller's messages, so that the caller has to wait. */
  pause(): void
  resume(): void
  /** The codes 1005 and 1006 close the connection without a code. */
  close(code: number, reason: string): void
  /** Drops the connection without a close frame. */
  terminate(): void
}

/** Handlers for a WebSocket once it is open. */
export interface SocketSession {
  opened(socket: CallerSocket): void
  message(data: string | Uint8Array): void
  /** Called when everything that waited for the caller has been sent. */
  drained(): void
  /** Called when the connection is over: closed by either side, or lost (1006). */
  closed(code: number, reason: string): void
}

/** Upgrades a request to a WebSocket; the headers are sent with the response. False if that is no longer possible. */
export type Upgrade = (session: SocketSession, headers: Readonly<Record<string, string>>) => boolean
