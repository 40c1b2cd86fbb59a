import type { Socket } from 'bun'
import { BURST, CONTENT_EVENT, EVENTS, LAST_EVENTS, MESSAGE_EVENTS, PLAIN, type Wanted, wanted } from './payloads.ts'

const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const ANSWER = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(PLAIN)}\r\n\r\n${PLAIN}`,
)
const FIRST = Buffer.from(STREAM_HEAD + chunk(EVENTS[0] ?? ''))
/**
 * Four writes of eight events each. This is how a burst arrives over a loaded network, and it is cheap for the mock.
 */
const inGroups = (all: readonly string[]) =>
  [0, 1, 2, 3].map((group) => {
    const events = all
      .slice(group * 8, group * 8 + 8)
      .map(chunk)
      .join('')
    return Buffer.from(`${group === 0 ? STREAM_HEAD : ''}${events}${group === 3 ? '0\r\n\r\n' : ''}`)
  })
const GROUPS = inGroups(EVENTS)
const MESSAGE_GROUPS = inGroups(MESSAGE_EVENTS)
const MIDDLE = EVENTS.slice(1, -1).map((event) => Buffer.from(chunk(event)))
const LAST = Buffer.from(`${chunk(EVENTS.at(-1) ?? '')}0\r\n\r\n`)
const SLOW = Buffer.from(chunk(CONTENT_EVENT))
const SLOW_END = Buffer.from(`${chunk(LAST_EVENTS)}0\r\n\r\n`)
const ENDLESS = Buffer.from(chunk(BURST))

/** The chunk intervals of the paced and the slow streams, and the length of the slow streams. */
export interface Pace {
  readonly pacedMs: number
  readonly slowMs: number
  readonly slowChunks: number
}

/** One HTTP/1.1 connection that sends canned responses and parses as little as possible. */
export class MockHttp1 {
  readonly #socket: Socket<unknown>
  readonly #pace: Pace
  #timer: ReturnType<typeof setInterval> | undefined
  #unsent: Buffer | undefined
  #endless = false
  #pending: Buffer | undefined
  /** Bytes of the body still to come; -1 while waiting for headers, -2 for a chunked body. */
  #left = -1
  #wanted: Wanted = 'plain'

  constructor(socket: Socket<unknown>, pace: Pace) {
    this.#socket = socket
    this.#pace = pace
  }

  receive(bytes: Buffer): void {
    if (this.#left > 0) {
      this.#left -= bytes.length
      if (this.#left <= 0) this.#answer()
      return
    }
    const data = this.#pending ? Buffer.concat([this.#pending, bytes]) : bytes
    const head = data.indexOf('\r\n\r\n')
    const start = head + 4
    const length = head < 0 ? undefined : contentLength(data, head)
    const chunkedEnd = length === 'chunked' && data.subarray(-5).equals(CHUNKED_END)
    // Waits until the start of the body, which selects the response, is complete. The data is copied because the
    // runtime reuses its buffer.
    const enough = typeof length === 'number' && data.length - start >= Math.min(length, 2048)
    if (!chunkedEnd && !enough) {
      this.#pending = Buffer.from(data)
      return
    }
    this.#pending = undefined
    this.#wanted = wanted(data.toString('latin1', start, Math.min(data.length, start + 2048)))
    this.#left = typeof length === 'number' ? length - (data.length - start) : 0
    if (this.#left <= 0) this.#answer()
  }

  drain(): void {
    if (this.#unsent) {
      const rest = this.#unsent
      this.#unsent = undefined
      this.#write(rest)
    }
    if (this.#endless) this.#pour()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#endless = false
  }

  #answer(): void {
    this.#left = -1
    if (this.#wanted === 'plain') {
      this.#write(ANSWER)
      return
    }
    if (this.#wanted === 'stream') {
      for (const group of GROUPS) this.#write(group)
      return
    }
    if (this.#wanted === 'messages') {
      for (const group of MESSAGE_GROUPS) this.#write(group)
      return
    }
    this.#write(FIRST)
    if (this.#wanted === 'each') {
      for (const event of MIDDLE) this.#write(event)
      this.#write(LAST)
    } else if (this.#wanted === 'paced') {
      this.#tick(this.#pace.pacedMs, MIDDLE.length, (index) => MIDDLE[index] ?? SLOW, LAST)
    } else if (this.#wanted === 'slow') {
      this.#tick(this.#pace.slowMs, this.#pace.slowChunks, () => SLOW, SLOW_END)
    } else {
      this.#endless = true
      this.#pour()
    }
  }

  #tick(everyMs: number, count: number, event: (index: number) => Buffer, last: Buffer): void {
    let index = 0
    this.#timer = setInterval(() => {
      if (index < count) {
        this.#write(event(index++))
        return
      }
      clearInterval(this.#timer)
      this.#write(last)
    }, everyMs)
  }

  #pour(): void {
    while (this.#endless && !this.#unsent) this.#write(ENDLESS)
  }

  #write(bytes: Buffer): void {
    if (this.#unsent) {
      this.#unsent = Buffer.concat([this.#unsent, bytes])
      return
    }
    const written = this.#socket.write(bytes)
    if (written < 0) this.close()
    else if (written < bytes.length) this.#unsent = bytes.subarray(written)
  }
}

const CHUNKED_END = Buffer.from('0\r\n\r\n')

function contentLength(data: Buffer, head: number): number | 'chunked' {
  const text = data.toString('latin1', 0, head).toLowerCase()
  const at = text.indexOf('content-length:')
  return at < 0 ? 'chunked' : Number.parseInt(text.slice(at + 15), 10)
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}
