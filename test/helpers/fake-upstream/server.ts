import { createHash } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { type SelfSigned, selfSignedCertificate } from './certificate.ts'
import type { ServerHooks } from './hooks.ts'
import { serveHttp1 } from './http1.ts'
import { Http2Connection } from './http2.ts'
import type { RecordedRequest } from './recorded-request.ts'
import { Script } from './script.ts'
import type { Behaviour, Exchange } from './types.ts'

/** How the upstream listens. */
export interface FakeUpstreamOptions {
  /** Uses TLS with its own certificate, and offers HTTP/2 and HTTP/1.1 unless `protocols` is set. */
  readonly tls?: boolean
  /** Protocols offered by ALPN, best first. */
  readonly protocols?: readonly ('h2' | 'http/1.1')[]
  /** Maximum open streams per HTTP/2 connection. */
  readonly maxConcurrentStreams?: number
}

/** What is done to a connection before any byte is read from it. */
export type ConnectionFault = 'reset' | 'fin' | 'silent'

/** A running upstream. Its script is set with `script`, `next`, `always`, `forKey` and `forModel`. */
export class FakeUpstream extends Script implements AsyncDisposable {
  /** Every request, in the order in which the headers arrived. */
  readonly requests: RecordedRequest[] = []
  /** PEM of the certificate to trust; empty without TLS. */
  readonly certificate: string
  readonly port: number
  readonly #server: Server
  readonly #open = new Set<Exchange>()
  readonly #sockets = new Map<Socket, number>()
  #connections = 0
  #fault: ConnectionFault | undefined

  constructor(server: Server, port: number, certificate: string) {
    super()
    this.#server = server
    this.port = port
    this.certificate = certificate
  }

  /** Base URL without a path, for a channel's base_url. */
  get url(): string {
    return `${this.certificate ? 'https' : 'http'}://127.0.0.1:${this.port}`
  }

  /** The number of requests whose response is not finished and whose caller has not disconnected. */
  get openStreams(): number {
    return this.#open.size
  }

  /** The number of connections accepted since the start. */
  get connections(): number {
    return this.#connections
  }

  /** The number of connections that are open now. */
  get openConnections(): number {
    return this.#sockets.size
  }

  /** The last request. Throws if there was none. */
  get last(): RecordedRequest {
    const request = this.requests.at(-1)
    if (!request) throw new Error('the fake upstream got no request')
    return request
  }

  /**
   * How often each POST arrived, by path and body. Tests use unique bodies, so a count above one means that a call was
   * sent twice.
   */
  postArrivals(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const request of this.requests) {
      if (request.method !== 'POST') continue
      const digest = createHash('sha256').update(request.body).digest('hex').slice(0, 16)
      const id = `${request.path} ${request.bodyComplete ? digest : `incomplete ${request.headers.get('content-length')}`}`
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    return counts
  }

  /**
   * The highest number of times that the same POST arrived. It is 1 for a correct gateway that does not retry on
   * purpose. HTTP/2 allows a client to send a request again after REFUSED_STREAM, or after a GOAWAY whose last stream
   * id is lower than the id of the request's stream. Both mean that the upstream did not process the request.
   */
  get mostArrivals(): number {
    return Math.max(0, ...this.postArrivals().values())
  }

  /** Removes all requests and rules, and accepts connections again. */
  override clear(): void {
    super.clear()
    this.requests.length = 0
    this.#fault = undefined
  }

  /** Breaks new connections from now on, until it is called with undefined. */
  failConnections(fault: ConnectionFault | undefined): void {
    this.#fault = fault
  }

  /** Closes every connection that is open now, busy or idle, so that a warm connection pool becomes stale. */
  dropConnections(how: 'fin' | 'reset'): void {
    for (const socket of this.#sockets.keys()) how === 'fin' ? socket.end() : socket.resetAndDestroy()
  }

  /** Resolves as soon as the condition is true. Throws after the time limit. */
  async until(condition: (upstream: FakeUpstream) => boolean, timeoutMs = 60_000): Promise<void> {
    const deadline = Date.now() + timeoutMs
    while (!condition(this)) {
      if (Date.now() > deadline) throw new Error(`the fake upstream waited ${timeoutMs} ms in vain; ${this.describe()}`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }

  /** Resolves with the `count`-th request (counted from 1), including its body. */
  async received(count = 1, timeoutMs = 60_000): Promise<RecordedRequest> {
    await this.until(() => this.requests[count - 1]?.bodyComplete === true, timeoutMs)
    return this.requests[count - 1] ?? this.last
  }

  /** One line per request, for failure messages. */
  describe(): string {
    const line = (r: RecordedRequest) =>
      `${r.method} ${r.target} ${r.behaviour}${r.answered ? ' answered' : ''}${r.aborted ? ' aborted' : ''}`
    return `${this.requests.length} requests: ${this.requests.map(line).join('; ')}`
  }

  /** Ends all connections and stops listening. */
  async close(): Promise<void> {
    for (const socket of this.#sockets.keys()) socket.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Called by the server to pass on a new connection. */
  accept(socket: Socket, maxConcurrentStreams: number): void {
    this.#connections++
    this.#sockets.set(socket, this.#connections)
    socket.setNoDelay(true)
    socket.setMaxListeners(0)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    if (this.#fault === 'reset') return void socket.resetAndDestroy()
    if (this.#fault === 'fin') return void socket.end()
    if (this.#fault === 'silent') return void socket.pause()
    const isHttp2 = socket instanceof TLSSocket && socket.alpnProtocol === 'h2'
    const served = isHttp2
      ? new Http2Connection(socket, this.#connections, this.#hooks).serve({ maxConcurrentStreams })
      : serveHttp1(socket, this.#connections, this.#hooks)
    void served.then(() => socket.end())
  }

  readonly #hooks: ServerHooks = {
    begin: (exchange, callerLeft) => {
      this.requests.push(exchange.request)
      this.#open.add(exchange)
      const leave = () => {
        if (!this.#open.has(exchange) || exchange.request.answered) return
        exchange.request.aborted = true
      }
      callerLeft.addEventListener('abort', leave, { once: true })
    },
    chooseAtHead: (request) => this.chooseAtHead(request),
    choose: (request) => this.choose(request),
    run: async (chosen, exchange, over) => {
      exchange.request.behaviour = chosen.name
      await runSafely(chosen, exchange)
      await over
    },
    finish: (exchange) => {
      exchange.request.endedAtMs ??= Date.now()
      this.#open.delete(exchange)
    },
  }
}

/** Runs a behaviour. If it throws, the connection is closed, so that a test fails at once instead of waiting. */
async function runSafely(chosen: Behaviour, exchange: Exchange): Promise<void> {
  try {
    await chosen.run(exchange)
    exchange.hang()
  } catch (error) {
    console.error(`fake upstream: behaviour ${chosen.name} failed`, error)
    exchange.reset()
  }
}

/** Starts an upstream on a free port of 127.0.0.1. */
export async function startFakeUpstream(options: FakeUpstreamOptions = {}): Promise<FakeUpstream> {
  const pems: SelfSigned | undefined = options.tls ? selfSignedCertificate() : undefined
  const protocols = [...(options.protocols ?? ['h2', 'http/1.1'])]
  const state: { upstream: FakeUpstream | undefined } = { upstream: undefined }
  const accept = (socket: Socket) => state.upstream?.accept(socket, options.maxConcurrentStreams ?? 1_000)
  const server = pems
    ? createTlsServer({ cert: pems.certificate, key: pems.key, ALPNProtocols: protocols, allowHalfOpen: true }, accept)
    : createServer({ allowHalfOpen: true }, accept)
  const port = await listen(server)
  state.upstream = new FakeUpstream(server, port, pems?.certificate ?? '')
  return state.upstream
}

/** A port on 127.0.0.1 that refuses connections. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (address === null || typeof address === 'string') reject(new Error('no port'))
      else resolve(address.port)
    })
  })
}
