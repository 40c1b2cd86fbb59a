import { createHash, randomBytes } from 'node:crypto'
import { isIP, connect as openPlain, type Socket } from 'node:net'
import { connect as openSecure } from 'node:tls'
import {
  clientFrame,
  closePayload,
  FrameFault,
  FrameReader,
  type SocketMessage,
  vanished,
} from '../../lib/bytes/web-socket-frames.ts'
import { runningTimer } from '../../lib/running-timer.ts'
import { readHead, refusalOf } from './handshake.ts'

/** How a WebSocket to an upstream is opened. */
export interface SocketOpening {
  /** A URL with the scheme `http:`, `https:`, `ws:` or `wss:`. */
  url: string
  headers: Readonly<Record<string, string>>
  /** Aborted when nobody is waiting for the connection any more. */
  signal: AbortSignal
  /** Time limits for establishing the connection and for the upstream's response, in milliseconds; 0 = no limit. */
  connectTimeoutMs: number
  answerTimeoutMs: number
  /** The maximum length of a message, in bytes. */
  mostBytes: number
  nowMs(): number
}

/** The error for a WebSocket that could not be opened, because the upstream could not be reached or was too slow. */
export class SocketFailure extends Error {
  readonly isTimeout: boolean

  constructor(message: string, isTimeout: boolean, cause?: unknown) {
    super(message, { cause })
    this.isTimeout = isTimeout
  }
}

/**
 * A message from an upstream, or the end of the connection (code 1006 if it was lost). `fault` is set if the gateway
 * ended the connection because the upstream violated the protocol or sent too much.
 */
export type UpstreamMessage = Exclude<SocketMessage, { kind: 'ping' | 'pong' | 'close' }> | UpstreamClose
export type UpstreamClose = Extract<SocketMessage, { kind: 'close' }> & { readonly fault?: true }

/** How long the upstream may take to answer a close frame. */
const closeWaitMs = 2_000

/**
 * The client side of a WebSocket (RFC 6455), built directly on the sockets of `node:net` and `node:tls`. The runtime's
 * own client reports neither the status of a refused connection nor when data has been sent. Messages are taken one by
 * one, and the upstream has to wait until each one is taken.
 */
export class UpstreamSocket {
  /** Called when pending data has been sent, after `send` has returned false. */
  onDrain: (() => void) | undefined
  /** When data of any kind last arrived from the upstream. */
  heardAtMs: number
  readonly #nowMs: () => number
  readonly #socket: Socket
  readonly #reader: FrameReader
  readonly #queue: UpstreamMessage[] = []
  #waiting: ((message: UpstreamMessage) => void) | undefined
  #isOver = false
  #isClosing = false

  constructor(socket: Socket, { mostBytes, nowMs }: Pick<SocketOpening, 'mostBytes' | 'nowMs'>, first: Uint8Array) {
    this.#socket = socket
    this.#reader = new FrameReader(mostBytes)
    this.#nowMs = nowMs
    this.heardAtMs = nowMs()
    socket.on('data', (bytes: Uint8Array) => this.#read(bytes))
    socket.on('drain', () => this.onDrain?.())
    socket.on('error', () => this.#lost())
    socket.on('end', () => this.#lost())
    socket.on('close', () => this.#lost())
    if (first.length > 0) this.#read(first)
    else socket.pause()
  }

  /** True once no more messages will arrive. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The next message. The message that reports the end of the connection is the last one. */
  next(): Promise<UpstreamMessage> {
    const message = this.#queue.shift()
    if (message) return Promise.resolve(message)
    if (this.#isOver) return Promise.resolve({ kind: 'close', code: vanished, reason: '' })
    return new Promise((resolve) => {
      this.#waiting = resolve
      this.#socket.resume()
    })
  }

  /**
   * Sends a message. Returns false if data is waiting because the upstream reads too slowly. `onDrain` is called when
   * the upstream has caught up.
   */
  send(data: string | Uint8Array): boolean {
    if (this.#isOver || this.#isClosing) return true
    const isText = typeof data === 'string'
    return this.#socket.write(
      clientFrame(isText ? 'text' : 'binary', isText ? Buffer.from(data) : data, randomBytes(4)),
    )
  }

  ping(): void {
    this.#control('ping', new Uint8Array(0))
  }

  /** Sends a close frame. With the codes 1005 and 1006, the frame contains no code. */
  close(code: number, reason: string): void {
    if (this.#isOver || this.#isClosing) return
    this.#control('close', closePayload(code, reason))
    this.#isClosing = true
    this.#socket.resume()
    setTimeout(() => this.#socket.destroy(), closeWaitMs).unref()
  }

  #control(kind: 'ping' | 'pong' | 'close', payload: Uint8Array): void {
    if (!this.#isOver && !this.#isClosing) this.#socket.write(clientFrame(kind, payload, randomBytes(4)))
  }

  #read(bytes: Uint8Array): void {
    this.heardAtMs = this.#nowMs()
    if (this.#isOver) return
    try {
      for (const message of this.#reader.push(bytes)) {
        if (message.kind === 'ping') this.#control('pong', message.data)
        else if (message.kind !== 'pong') this.#tell(message)
      }
    } catch (error) {
      const fault = error instanceof FrameFault ? error : new FrameFault(1002, String(error))
      this.close(fault.code, fault.message)
      this.#tell({ kind: 'close', code: fault.code, reason: fault.message, fault: true })
    }
    if (!this.#waiting && !this.#isClosing && !this.#isOver) this.#socket.pause()
  }

  #tell(message: UpstreamMessage): void {
    if (this.#isOver) return
    if (message.kind === 'close') {
      // The response to a close frame has the same code. After receiving it, the server ends the connection.
      this.close(message.code, '')
      this.#isOver = true
      setTimeout(() => this.#socket.destroy(), closeWaitMs).unref()
    }
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting) waiting(message)
    else this.#queue.push(message)
  }

  #lost(): void {
    if (!this.#isOver) this.#tell({ kind: 'close', code: vanished, reason: '' })
    this.#socket.destroy()
  }
}

/** Opens a WebSocket, or returns the response with which the upstream refused it. Rejects with SocketFailure. */
export async function openSocket(opening: SocketOpening): Promise<UpstreamSocket | Response> {
  const url = new URL(opening.url.replace(/^ws/, 'http'))
  const key = randomBytes(16).toString('base64')
  const socket = await connected(url, opening)
  try {
    socket.write(requestText(url, opening.headers, key))
    const answer = await within(
      readHead(socket),
      opening.answerTimeoutMs,
      opening.signal,
      'the upstream did not respond in time',
    )
    if (answer.status !== 101) {
      const refusal = await refusalOf(socket, answer)
      socket.destroy()
      return refusal
    }
    const accepted = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    if (answer.headers.get('sec-websocket-accept') !== accepted)
      throw new SocketFailure('the upstream sent an invalid handshake', false)
    return new UpstreamSocket(socket, opening, answer.rest)
  } catch (error) {
    socket.destroy()
    throw error instanceof SocketFailure
      ? error
      : new SocketFailure('the upstream interrupted the handshake', false, error)
  }
}

async function connected(url: URL, { signal, connectTimeoutMs }: SocketOpening): Promise<Socket> {
  const isSecure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port) || (isSecure ? 443 : 80)
  const socket = isSecure
    ? openSecure({ host, port, ALPNProtocols: ['http/1.1'], ...(isIP(host) === 0 && { servername: host }) })
    : openPlain({ host, port })
  // Errors are handled by the code that waits for the socket. Without this listener, an error at any other time would
  // be uncaught.
  socket.on('error', () => undefined)
  const standing = new Promise<void>((resolve, reject) => {
    socket.once(isSecure ? 'secureConnect' : 'connect', resolve)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed')))
  })
  try {
    await within(standing, connectTimeoutMs, signal, 'the upstream cannot be reached')
    socket.setNoDelay(true)
    return socket
  } catch (error) {
    socket.destroy()
    throw error instanceof SocketFailure ? error : new SocketFailure('the upstream cannot be reached', false, error)
  }
}

function requestText(url: URL, headers: Readonly<Record<string, string>>, key: string): string {
  const all = {
    host: url.host,
    ...headers,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value.replace(/[\r\n]/g, ' ')}`)
  return `GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}

async function within<T>(work: Promise<T>, timeoutMs: number, signal: AbortSignal, late: string): Promise<T> {
  let endTimer = () => {}
  let leave = () => {}
  const interruption = new Promise<never>((_, reject) => {
    leave = () => reject(new SocketFailure('the caller left', false))
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    if (timeoutMs > 0) endTimer = runningTimer(timeoutMs, () => reject(new SocketFailure(late, true)))
  })
  try {
    return await Promise.race([work, interruption])
  } finally {
    endTimer()
    signal.removeEventListener('abort', leave)
    work.catch(() => undefined)
  }
}
