import { Buffer } from 'node:buffer'
import type { Socket } from 'node:net'
import { ByteReader } from './byte-reader.ts'
import type { ServerHooks } from './hooks.ts'
import { HpackDecoder } from './hpack.ts'
import { Http2Exchange } from './http2-exchange.ts'
import { FLAG, FRAME, frame, PREFACE, settings, unpadded, words } from './http2-frames.ts'
import { RecordedRequest } from './recorded-request.ts'
import { SocketWriter } from './socket-writer.ts'

/** What the server announces in its first SETTINGS frame. */
export interface Http2Limits {
  readonly maxConcurrentStreams: number
}

const MAX_CONCURRENT_STREAMS = 3
const INITIAL_WINDOW_SIZE = 4
const WINDOW = 16 * 1024 * 1024

/** One HTTP/2 connection, built from frames so that it can break every rule on purpose. */
export class Http2Connection {
  readonly writer: SocketWriter
  readonly streams = new Map<number, Http2Exchange>()
  /** How many more bytes the caller accepts on the whole connection. */
  sendWindow = 65_535
  /** How many bytes the caller accepts on a new stream. */
  streamSendWindow = 65_535
  readonly #reader: ByteReader
  readonly #number: number
  readonly #hooks: ServerHooks
  readonly #decoder = new HpackDecoder()
  #headerBlock: { id: number; flags: number; parts: Buffer[] } | undefined

  constructor(socket: Socket, number: number, hooks: ServerHooks) {
    this.#reader = new ByteReader(socket)
    this.writer = new SocketWriter(socket)
    this.#number = number
    this.#hooks = hooks
  }

  /** Reads frames until the connection is gone. */
  async serve(limits: Http2Limits): Promise<void> {
    const announced = [
      [MAX_CONCURRENT_STREAMS, limits.maxConcurrentStreams],
      [INITIAL_WINDOW_SIZE, WINDOW],
    ] as const
    this.send(FRAME.settings, 0, 0, settings(announced))
    this.send(FRAME.window, 0, 0, words(WINDOW))
    if (!(await this.#reader.exactly(PREFACE.length))) return
    for (;;) {
      const head = await this.#reader.exactly(9)
      if (!head) break
      const payload = await this.#reader.exactly(head.readUIntBE(0, 3))
      if (!payload) break
      this.#receive(head[3] ?? 0, head[4] ?? 0, head.readUInt32BE(5) & 0x7fffffff, payload)
    }
    for (const stream of this.streams.values()) {
      stream.leave()
      if (!stream.chosen) this.#hooks.finish(stream)
    }
  }

  /** Sends one frame without waiting. */
  send(type: number, flags: number, streamId: number, payload?: Uint8Array): void {
    void this.writer.write(frame(type, flags, streamId, payload))
  }

  #receive(type: number, flags: number, id: number, payload: Buffer): void {
    if (type === FRAME.settings && !(flags & FLAG.ack)) this.#applySettings(payload)
    else if (type === FRAME.ping && !(flags & FLAG.ack)) this.send(FRAME.ping, FLAG.ack, 0, payload)
    else if (type === FRAME.headers) this.#headers(id, flags, unpadded(flags, payload, true))
    else if (type === FRAME.continuation) this.#continuation(flags, payload)
    else if (type === FRAME.data) this.#data(id, flags, payload)
    else if (type === FRAME.reset) this.streams.get(id)?.leave()
    else if (type === FRAME.window) this.#window(id, payload.readUInt32BE(0))
  }

  #applySettings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      if (payload.readUInt16BE(at) !== INITIAL_WINDOW_SIZE) continue
      const change = payload.readUInt32BE(at + 2) - this.streamSendWindow
      this.streamSendWindow += change
      for (const stream of this.streams.values()) stream.widen(change)
    }
    this.send(FRAME.settings, FLAG.ack, 0)
  }

  #window(id: number, increment: number): void {
    if (id !== 0) {
      this.streams.get(id)?.widen(increment)
      return
    }
    this.sendWindow += increment
    for (const stream of this.streams.values()) stream.widen(0)
  }

  #headers(id: number, flags: number, part: Buffer): void {
    this.#headerBlock = { id, flags, parts: [Buffer.from(part)] }
    if (flags & FLAG.endHeaders) this.#openStream()
  }

  #continuation(flags: number, part: Buffer): void {
    this.#headerBlock?.parts.push(Buffer.from(part))
    if (flags & FLAG.endHeaders) this.#openStream()
  }

  #openStream(): void {
    const block = this.#headerBlock
    this.#headerBlock = undefined
    if (!block) return
    const rawHeaders = this.#decoder.decode(Buffer.concat(block.parts))
    if (this.streams.has(block.id)) {
      this.#finishBody(block.id)
      return
    }
    const pseudo = (name: string) => rawHeaders.find(([key]) => key === name)?.[1] ?? ''
    const head = { method: pseudo(':method'), target: pseudo(':path'), rawHeaders, connection: this.#number }
    const request = new RecordedRequest({ protocol: 'h2', ...head })
    const exchange = new Http2Exchange(request, this, block.id)
    this.streams.set(block.id, exchange)
    this.#hooks.begin(exchange, exchange.callerLeft)
    const early = this.#hooks.chooseAtHead(request)
    if (early) {
      exchange.chosen = true
      void this.#answer(exchange, () => this.#hooks.run(early, exchange, exchange.over))
    }
    if (block.flags & FLAG.endStream) this.#finishBody(block.id)
  }

  #data(id: number, flags: number, payload: Buffer): void {
    if (payload.length > 0) {
      this.send(FRAME.window, 0, 0, words(payload.length))
      if (!(flags & FLAG.endStream)) this.send(FRAME.window, 0, id, words(payload.length))
    }
    this.streams.get(id)?.body.push(Buffer.from(unpadded(flags, payload, false)))
    if (flags & FLAG.endStream) this.#finishBody(id)
  }

  #finishBody(id: number): void {
    const exchange = this.streams.get(id)
    if (!exchange) return
    exchange.request.completeBody(Buffer.concat(exchange.body))
    if (exchange.chosen) return
    exchange.chosen = true
    void this.#answer(exchange, () => this.#hooks.run(this.#hooks.choose(exchange.request), exchange, exchange.over))
  }

  async #answer(exchange: Http2Exchange, work: () => Promise<void>): Promise<void> {
    await work()
    this.streams.delete(exchange.streamId)
    this.#hooks.finish(exchange)
  }
}
