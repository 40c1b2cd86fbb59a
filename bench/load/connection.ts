import type { Socket } from 'bun'
import { ResponseParser } from './response-parser.ts'

/** The outcome of one request. */
export interface Outcome {
  readonly problem: string | undefined
  /** Clock readings in milliseconds. */
  readonly sentAt: number
  readonly firstByteAt: number
  readonly endAt: number
}

/** A keep-alive connection that sends the same request on demand. */
export class LoadConnection {
  readonly #port: number
  readonly #request: Buffer
  readonly #stream: boolean
  readonly #done: (connection: LoadConnection, outcome: Outcome) => void
  /** Called when body bytes arrive. */
  onBytes: (count: number) => void = () => undefined
  #socket: Socket<undefined> | undefined
  #parser: ResponseParser
  #unsent: Buffer | undefined
  #busy = false
  #sentAt = 0
  #firstByteAt = 0

  constructor(
    port: number,
    request: Buffer,
    stream: boolean,
    done: (connection: LoadConnection, outcome: Outcome) => void,
  ) {
    this.#port = port
    this.#request = request
    this.#stream = stream
    this.#done = done
    this.#parser = this.#newParser()
  }

  async open(): Promise<void> {
    this.#parser = this.#newParser()
    this.#socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: this.#port,
      socket: {
        data: (_, bytes) => this.#parser.feed(bytes),
        drain: () => this.#flush(),
        close: () => this.#lost('closed by the server'),
        error: (_, error) => this.#lost(error.message),
      },
    })
    this.#socket.setNoDelay(true)
  }

  /** Sends the request. `from` is the time when it was due. Latency is measured from then, so it includes any delay. */
  send(from = performance.now()): void {
    this.#busy = true
    this.#sentAt = from
    this.#firstByteAt = 0
    if (this.#socket) this.#write(this.#request)
    else
      this.open().then(
        () => this.#write(this.#request),
        (error) => this.#finish(String(error)),
      )
  }

  close(): void {
    this.#busy = false
    this.#socket?.end()
    this.#socket = undefined
  }

  #newParser(): ResponseParser {
    return new ResponseParser(this.#stream, {
      firstByte: () => {
        this.#firstByteAt = performance.now()
      },
      bytes: (count) => this.onBytes(count),
      end: (problem) => this.#finish(problem),
    })
  }

  #write(bytes: Buffer): void {
    const written = this.#socket?.write(bytes) ?? 0
    this.#unsent = written < bytes.length ? bytes.subarray(Math.max(0, written)) : undefined
  }

  #flush(): void {
    if (this.#unsent) this.#write(this.#unsent)
  }

  #lost(why: string): void {
    this.#socket = undefined
    if (this.#busy) this.#finish(why)
  }

  #finish(problem: string | undefined): void {
    if (!this.#busy) return
    this.#busy = false
    this.#done(this, {
      problem,
      sentAt: this.#sentAt,
      firstByteAt: this.#firstByteAt || performance.now(),
      endAt: performance.now(),
    })
  }
}
