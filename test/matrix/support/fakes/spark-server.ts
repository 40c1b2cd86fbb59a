import { sparkFake } from './china.ts'
import type { Said } from './fake.ts'

/** A WebSocket server that responds to the one message of each connection as Spark does. */
export interface SparkServer extends Disposable {
  url: string
  /** The received messages, as text. */
  messages: string[]
  /**
   * Sets the answer that is sent from now on. With `frames`, only that many frames of it are sent before the connection
   * is closed.
   */
  says(said: Said, frames?: number): void
  refuses(status: 400 | 429, message: string): void
}

export function startSparkServer(): SparkServer {
  const messages: string[] = []
  let frames: string[] = []
  let isCut = false
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, self) =>
      self.upgrade(request) ? undefined : new Response('a WebSocket was expected', { status: 426 }),
    websocket: {
      message(socket, message) {
        messages.push(String(message))
        for (const frame of frames) socket.send(frame)
        if (isCut) socket.close()
      },
    },
  })
  return {
    url: `ws://127.0.0.1:${server.port}`,
    messages,
    says(said, most) {
      frames = sparkFake.pieces(said).map(String).slice(0, most)
      isCut = most !== undefined
    },
    refuses(status, message) {
      isCut = false
      frames = [JSON.stringify(sparkFake.refusal(status, message).body)]
    },
    [Symbol.dispose]: () => void server.stop(true),
  }
}
