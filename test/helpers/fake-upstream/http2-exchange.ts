import { Buffer } from 'node:buffer'
import { encodeHeaders } from './hpack.ts'
import type { Http2Connection } from './http2.ts'
import { FLAG, FRAME, frame, words } from './http2-frames.ts'
import type { RecordedRequest } from './recorded-request.ts'
import type { Exchange, Framing, HeaderList, Http2Control } from './types.ts'

const FRAME_SIZE = 16_384
/** Headers that belong to HTTP/1.1 connections and are malformed in HTTP/2. */
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])

/** An exchange over one HTTP/2 stream. */
export class Http2Exchange implements Exchange, Http2Control {
  readonly request: RecordedRequest
  readonly streamId: number
  readonly h2: Http2Control
  readonly over: Promise<void>
  readonly body: Buffer[] = []
  /** Whether a behaviour has been chosen for this exchange. */
  chosen = false
  readonly #connection: Http2Connection
  readonly #left = new AbortController()
  #finish: () => void = () => undefined
  #window: number
  #wake: (() => void) | undefined
  #done = false

  constructor(request: RecordedRequest, connection: Http2Connection, streamId: number) {
    this.request = request
    this.#connection = connection
    this.streamId = streamId
    this.h2 = this
    this.#window = connection.streamSendWindow
    this.over = new Promise((resolve) => {
      this.#finish = resolve
    })
  }

  get callerLeft(): AbortSignal {
    return this.#left.signal
  }

  get openStreams(): number {
    return this.#connection.streams.size
  }

  /** Called when the caller has reset the stream or the connection is gone. */
  leave(): void {
    this.#left.abort()
    this.#wake?.()
  }

  /** Called when the caller accepts more bytes. */
  widen(increment: number): void {
    this.#window += increment
    this.#wake?.()
  }

  head(status: number, headers: HeaderList = [], framing: Framing = 'chunked'): void {
    const list = headers.filter(([name]) => !CONNECTION_HEADERS.has(name.toLowerCase()))
    const length: HeaderList = typeof framing === 'object' ? [['content-length', String(framing.length)]] : []
    const block = encodeHeaders([[':status', String(status)], ...list, ...length])
    for (let at = 0; at === 0 || at < block.length; at += FRAME_SIZE) {
      const flags = at + FRAME_SIZE >= block.length ? FLAG.endHeaders : 0
      const type = at === 0 ? FRAME.headers : FRAME.continuation
      this.#connection.send(type, flags, this.streamId, block.subarray(at, at + FRAME_SIZE))
    }
  }

  async write(bytes: string | Uint8Array): Promise<boolean> {
    let rest = Buffer.from(bytes)
    while (rest.length > 0) {
      const allowed = Math.min(rest.length, FRAME_SIZE, this.#window, this.#connection.sendWindow)
      if (this.#left.signal.aborted || this.#done) return false
      if (allowed <= 0) {
        await this.#widened()
        continue
      }
      this.#window -= allowed
      this.#connection.sendWindow -= allowed
      if (!(await this.#connection.writer.write(frame(FRAME.data, 0, this.streamId, rest.subarray(0, allowed)))))
        return false
      rest = rest.subarray(allowed)
    }
    return !this.#left.signal.aborted
  }

  end(): void {
    this.#connection.send(FRAME.data, FLAG.endStream, this.streamId)
    this.request.answered = !this.#left.signal.aborted
    this.#close()
  }

  fin(): void {
    this.#connection.writer.fin()
    this.#close()
  }

  reset(): void {
    this.#connection.writer.reset()
    this.#close()
  }

  hang(): void {
    this.#left.signal.addEventListener('abort', () => this.#close(), { once: true })
    if (this.#left.signal.aborted) this.#close()
  }

  raw(): Promise<boolean> {
    throw new Error('raw bytes would break an HTTP/2 connection; use h2.rawFrame')
  }

  resetStream(code: number): void {
    this.#connection.send(FRAME.reset, 0, this.streamId, words(code))
    this.#close()
  }

  goAway(lastStreamId: number, code: number): void {
    this.#connection.send(FRAME.goAway, 0, 0, words(lastStreamId, code))
  }

  rawFrame(type: number, flags: number, streamId: number, payload: Uint8Array): void {
    this.#connection.send(type, flags, streamId, payload)
  }

  #widened(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
    })
  }

  #close(): void {
    this.#done = true
    this.#wake?.()
    this.#finish()
  }
}
