import type { Server, ServerWebSocket, WebSocketHandler } from 'bun'
import type { CallerSocket, SocketSession, Upgrade } from '../lib/network/socket-session.ts'

/**
 * The maximum length of a caller's message, in bytes. OpenAI accepts audio chunks of up to 15 MiB. A message that is
 * too long closes the connection with code 1009.
 */
const mostMessageBytes = 16 * 1024 * 1024
/** A caller who does not answer pings for this long is considered disconnected. */
const lostAfterSeconds = 120

/** Serves the WebSocket sessions to which requests were upgraded. */
export const webSockets: WebSocketHandler<SocketSession> = {
  maxPayloadLength: mostMessageBytes,
  // 0 = no limit. With a limit, messages would be dropped. The sender waits for `drain` instead.
  backpressureLimit: 0,
  idleTimeout: lostAfterSeconds,
  sendPings: true,
  open: (ws) => ws.data.opened(callerSocket(ws)),
  message: (ws, data) => ws.data.message(data),
  drain: (ws) => ws.data.drained(),
  close: (ws, code, reason) => ws.data.closed(code, reason),
}

/** Upgrades a request to a WebSocket on this server. */
export function upgradeOf(server: Server<SocketSession>, request: Request): Upgrade {
  return (session, headers) => server.upgrade(request, { data: session, headers: { ...headers } })
}

function callerSocket(ws: ServerWebSocket<SocketSession>): CallerSocket {
  return {
    send: (data) => ws.send(data) !== -1,
    pause: () => ws.pause(),
    resume: () => ws.resume(),
    close: (code, reason) => ws.close(code, reason),
    terminate: () => ws.terminate(),
  }
}
