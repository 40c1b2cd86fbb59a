import { connect, createServer, type Socket } from 'node:net'

/**
 * A TCP path to a database that a test can disturb. For each connection, `join` passes the bytes between the client
 * (`near`) and the database (`far`), or drops them. `url` is the database's address through this path.
 */
export async function networkTo(databaseUrl: string, join: (near: Socket, far: Socket) => void) {
  const target = new URL(databaseUrl)
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    join(near, far)
    far.on('close', () => near.destroy())
    for (const socket of [near, far]) socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.port = String((server.address() as { port: number }).port)
  return { url: url.toString(), [Symbol.asyncDispose]: async () => void server.close() }
}
