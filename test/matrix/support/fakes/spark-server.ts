import { sparkFake } from './china.ts'
import type { Said } from './fake.ts'

/** A WebSocket server that answers the one message of each connection as Spark does. */
export interface SparkServer extends Disposable {
  url: string
  /** The messages that came, as text. */
  messages: string[]
  /** What is answered from now on. */
  says(said: Said): void
  refuses(status: 400 | 429, message: string): void
}

export function startSparkServer(): SparkServer {
  const messages: string[] = []
  let frames: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, self) =>
      self.upgrade(request) ? undefined : new Response('a WebSocket was expected', { status: 426 }),
    websocket: {
      message(socket, message) {
        messages.push(String(message))
        for (const frame of frames) socket.send(frame)
      },
    },
  })
  return {
    url: `ws://127.0.0.1:${server.port}`,
    messages,
    says(said) {
      frames = sparkFake.pieces(said).map(String)
    },
    refuses(status, message) {
      frames = [JSON.stringify(sparkFake.refusal(status, message).body)]
    },
    [Symbol.dispose]: () => void server.stop(true),
  }
}
