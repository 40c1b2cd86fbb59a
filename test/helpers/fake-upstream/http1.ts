import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import { ByteReader } from './byte-reader.ts'
import type { ServerHooks } from './hooks.ts'
import { RecordedRequest } from './recorded-request.ts'
import { SocketWriter } from './socket-writer.ts'
import type { Exchange, Framing, HeaderList } from './types.ts'

/** Serves one HTTP/1.1 connection, request after request, until either side closes it. */
export async function serveHttp1(socket: Socket, connection: number, hooks: ServerHooks): Promise<void> {
  const reader = new ByteReader(socket)
  const writer = new SocketWriter(socket)
  let current: Http1Exchange | undefined
  writer.gone.addEventListener('abort', () => current?.leave(), { once: true })
  for (;;) {
    const head = await reader.until('\r\n\r\n')
    if (!head) return
    const request = parseHead(head.toString('latin1'), connection)
    const exchange = new Http1Exchange(request, writer)
    current = exchange
    hooks.begin(exchange, exchange.callerLeft)
    if (writer.gone.aborted) exchange.leave()
    const early = hooks.chooseAtHead(request)
    if (early) {
      await hooks.run(early, exchange, exchange.over)
    } else {
      if (/100-continue/i.test(request.headers.get('expect') ?? '')) await writer.write('HTTP/1.1 100 Continue\r\n\r\n')
      const body = await readBody(reader, request)
      if (!body) return hooks.finish(exchange)
      request.completeBody(body)
      await hooks.run(hooks.choose(request), exchange, exchange.over)
    }
    hooks.finish(exchange)
    if (!exchange.reusable) return
  }
}

/** An exchange over HTTP/1.1. */
class Http1Exchange implements Exchange {
  readonly request: RecordedRequest
  readonly h2 = undefined
  /** Resolves when nothing more will be sent. */
  readonly over: Promise<void>
  /** Whether the connection can be used for another request. */
  reusable = false
  readonly #writer: SocketWriter
  readonly #left = new AbortController()
  #finish: () => void = () => undefined
  #framing: Framing = 'chunked'

  constructor(request: RecordedRequest, writer: SocketWriter) {
    this.request = request
    this.#writer = writer
    this.over = new Promise((resolve) => {
      this.#finish = resolve
    })
  }

  get callerLeft(): AbortSignal {
    return this.#left.signal
  }

  /** Called when the caller has closed the connection. */
  leave(): void {
    this.#left.abort()
  }

  head(status: number, headers: HeaderList = [], framing: Framing = 'chunked'): void {
    this.#framing = framing
    const lines = [
      `HTTP/1.1 ${status} ${status < 400 ? 'OK' : 'Error'}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
    ]
    if (framing === 'chunked') lines.push('transfer-encoding: chunked')
    else if (framing === 'until-close') lines.push('connection: close')
    else lines.push(`content-length: ${framing.length}`)
    void this.#writer.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
  }

  write(bytes: string | Uint8Array): Promise<boolean> {
    const body = Buffer.from(bytes)
    if (body.length === 0) return Promise.resolve(!this.callerLeft.aborted)
    if (this.#framing !== 'chunked') return this.#writer.write(body)
    return this.#writer.write(
      Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]),
    )
  }

  end(): void {
    if (this.#framing === 'chunked') void this.#writer.write('0\r\n\r\n')
    this.request.answered = !this.callerLeft.aborted
    if (this.#framing === 'until-close') this.#writer.fin()
    else this.reusable = true
    this.#finish()
  }

  fin(): void {
    this.#writer.fin()
    this.#finish()
  }

  reset(): void {
    this.#writer.reset()
    this.#finish()
  }

  hang(): void {
    this.callerLeft.addEventListener('abort', () => this.#finish(), { once: true })
    if (this.callerLeft.aborted) this.#finish()
  }

  raw(bytes: string | Uint8Array): Promise<boolean> {
    return this.#writer.write(bytes)
  }
}

function parseHead(text: string, connection: number): RecordedRequest {
  const [first = '', ...lines] = text.trimEnd().split('\r\n')
  const [method = '', target = ''] = first.split(' ')
  const rawHeaders = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  return new RecordedRequest({ protocol: 'http/1.1', method, target, rawHeaders, connection })
}

async function readBody(reader: ByteReader, request: RecordedRequest): Promise<Uint8Array | undefined> {
  if (!/chunked/i.test(request.headers.get('transfer-encoding') ?? '')) {
    return reader.exactly(Number(request.headers.get('content-length') ?? 0))
  }
  const parts: Uint8Array[] = []
  for (;;) {
    const line = await reader.until('\r\n')
    if (!line) return undefined
    const size = Number.parseInt(line.toString('latin1'), 16)
    if (size === 0) {
      await reader.until('\r\n')
      return Buffer.concat(parts)
    }
    const data = await reader.exactly(size)
    if (!data || !(await reader.exactly(2))) return undefined
    parts.push(Buffer.from(data))
  }
}
