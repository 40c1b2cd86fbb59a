/** The caller's end of a WebSocket, as offered by the server that accepted it. */
export interface CallerSocket {
  /**
   * Sends a message. Returns false if the message has to wait because the caller reads too slowly. `drained` is called
   * when the caller has caught up.
   */
  send(data: string | Uint8Array): boolean
  /** Stops reading the caller's messages, so that the caller has to wait. */
  pause(): void
  resume(): void
  /** Closes the connection. With the codes 1005 and 1006, no code is sent. */
  close(code: number, reason: string): void
  /** Drops the connection without a close frame. */
  terminate(): void
}

/** Handlers for the events of a WebSocket. */
export interface SocketSession {
  opened(socket: CallerSocket): void
  message(data: string | Uint8Array): void
  /** Called when all waiting messages have been sent to the caller. */
  drained(): void
  /** Called when the connection has ended, because one side closed it or because it was lost (code 1006). */
  closed(code: number, reason: string): void
}

/**
 * Upgrades a request to a WebSocket. The headers are sent with the response. Returns false if the upgrade is no longer
 * possible.
 */
export type Upgrade = (session: SocketSession, headers: Readonly<Record<string, string>>) => boolean
