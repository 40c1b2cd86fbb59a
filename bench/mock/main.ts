import { writeFileSync } from 'node:fs'
import type { Socket } from 'bun'
import { selfSignedCertificate } from '../../test/helpers/fake-upstream/certificate.ts'
import { MockHttp1, type Pace } from './http1.ts'
import { MockHttp2 } from './http2.ts'

/**
 * The bench's upstream, a separate process: `main.ts <file for its certificate> <slow chunks>`. Prints its ports as one
 * JSON line when it is ready.
 */
interface Connection {
  receive(bytes: Buffer): void
  drain(): void
  close(): void
}

interface State {
  connection: Connection | undefined
}

const [certificateFile = '', slowChunks = '30'] = process.argv.slice(2)
const pace: Pace = { pacedMs: 5, slowMs: 500, slowChunks: Number(slowChunks) }

const handlers = {
  open: (socket: Socket<State>) => {
    socket.data = { connection: undefined }
    socket.setNoDelay(true)
  },
  data: (socket: Socket<State>, bytes: Buffer) => {
    const isHttp2 = () => bytes.length >= 3 && bytes.toString('latin1', 0, 3) === 'PRI'
    socket.data.connection ??= isHttp2() ? new MockHttp2(socket) : new MockHttp1(socket, pace)
    socket.data.connection.receive(bytes)
  },
  drain: (socket: Socket<State>) => socket.data.connection?.drain(),
  close: (socket: Socket<State>) => socket.data.connection?.close(),
  error: (socket: Socket<State>) => socket.data.connection?.close(),
}

/** The list of protocols in the format of the TLS extension: each name preceded by its length. */
const alpn = Buffer.concat(['h2', 'http/1.1'].map((name) => Buffer.from([name.length, ...Buffer.from(name)])))
const { certificate, key } = selfSignedCertificate()
writeFileSync(certificateFile, certificate)
const listen = { hostname: '127.0.0.1', port: 0, socket: handlers, data: { connection: undefined } satisfies State }
const plain = Bun.listen<State>(listen)
const tls = Bun.listen<State>({ ...listen, tls: { cert: certificate, key, ALPNProtocols: alpn } })
console.log(JSON.stringify({ port: plain.port, tlsPort: tls.port }))
