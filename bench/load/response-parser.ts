/** Callbacks for a response as it arrives. */
export interface ResponseEvents {
  /** The first byte of the body has arrived. */
  firstByte(): void
  /** Body bytes have arrived. */
  bytes(count: number): void
  /** The response has ended; `problem` describes what was wrong with it, if anything. */
  end(problem: string | undefined): void
}

type Place = 'head' | 'length' | 'size' | 'chunk' | 'chunk-end'

/** Reads consecutive HTTP/1.1 responses and checks that each is complete. Uses as little CPU time as possible. */
export class ResponseParser {
  readonly #events: ResponseEvents
  readonly #stream: boolean
  #place: Place = 'head'
  #held: Buffer | undefined
  #left = 0
  #status = 0
  #seenBody = false
  /** The last 64 characters of the body so far. This is enough to contain `[DONE]`. */
  #tail = ''

  constructor(stream: boolean, events: ResponseEvents) {
    this.#stream = stream
    this.#events = events
  }

  feed(bytes: Buffer): void {
    const data = this.#held ? Buffer.concat([this.#held, bytes]) : bytes
    this.#held = undefined
    let at = 0
    while (at < data.length) {
      const next = this.#step(data, at)
      if (next === undefined) {
        this.#held = Buffer.from(data.subarray(at))
        return
      }
      at = next
    }
  }

  /**
   * Parses the next part of the response, which starts at `at`. Returns the position after the part, or undefined if
   * the part has not arrived completely.
   */
  #step(data: Buffer, at: number): number | undefined {
    if (this.#place === 'head') return this.#head(data, at)
    if (this.#place === 'size') return this.#size(data, at)
    if (this.#place === 'chunk-end') {
      if (data.length - at < 2) return undefined
      this.#place = 'size'
      return at + 2
    }
    const end = Math.min(data.length, at + this.#left)
    this.#body(data, at, end)
    this.#left -= end - at
    if (this.#left === 0 && this.#place === 'length') this.#end()
    else if (this.#left === 0) this.#place = 'chunk-end'
    return end
  }

  #head(data: Buffer, at: number): number | undefined {
    const end = data.indexOf('\r\n\r\n', at)
    if (end < 0) return undefined
    const text = data.toString('latin1', at, end).toLowerCase()
    this.#status = Number(text.slice(9, 12))
    const length = text.indexOf('\r\ncontent-length:')
    this.#place = length < 0 ? 'size' : 'length'
    this.#left = length < 0 ? 0 : Number.parseInt(text.slice(length + 17), 10)
    this.#seenBody = false
    this.#tail = ''
    if (this.#place === 'length' && this.#left === 0) this.#end()
    return end + 4
  }

  #size(data: Buffer, at: number): number | undefined {
    const end = data.indexOf('\r\n', at)
    if (end < 0) return undefined
    const size = Number.parseInt(data.toString('latin1', at, end), 16)
    if (size > 0) {
      this.#left = size
      this.#place = 'chunk'
      return end + 2
    }
    if (data.length < end + 4) return undefined
    this.#end()
    return end + 4
  }

  #body(data: Buffer, at: number, end: number): void {
    if (!this.#seenBody) {
      this.#seenBody = true
      this.#events.firstByte()
    }
    this.#events.bytes(end - at)
    const text = data.toString('latin1', Math.max(at, end - 64), end)
    this.#tail = end - at >= 64 ? text : (this.#tail + text).slice(-64)
  }

  #end(): void {
    this.#place = 'head'
    this.#events.end(this.#problem())
  }

  #problem(): string | undefined {
    if (this.#status !== 200) return `status ${this.#status}: ${this.#tail}`
    const ending = this.#tail.trimEnd()
    if (this.#stream) return ending.endsWith('data: [DONE]') ? undefined : `no [DONE] at the end: ${ending}`
    return ending.endsWith('}') ? undefined : `not the end of a JSON object: ${ending}`
  }
}
