/** Complete events taken from a stream, with the bytes they came as. */
export interface SseBlock {
  /** Exactly the bytes of the events that were not sent before; undefined when there are none. */
  bytes: Uint8Array | undefined
  /** Raw text of each complete event, its blank line included. */
  events: string[]
  /** Bytes of a still open event that is too long to wait for: forward them now, the event itself follows later. */
  early: Uint8Array | undefined
  /** True when the first of `events` has already been forwarded in part, so `bytes` holds only its end. */
  firstIsPartlySent: boolean
}

const lf = 10
const cr = 13

/**
 * Cuts a byte stream into server-sent events without a limit on their length. An open event is kept until its blank
 * line comes; one that outgrows `holdBackBytes` is handed on as it arrives and only remembered for metering, up to
 * `rememberBytes`.
 */
export class SseSplitter {
  #open: Uint8Array[] = []
  #openBytes = 0
  #sentBytes = 0
  #forgotten = false
  readonly #holdBackBytes: number
  readonly #rememberBytes: number
  readonly #decoder = new TextDecoder()

  constructor(holdBackBytes = 256 * 1024, rememberBytes = 32 * 1024 * 1024) {
    this.#holdBackBytes = holdBackBytes
    this.#rememberBytes = rememberBytes
  }

  push(chunk: Uint8Array): SseBlock {
    const end = this.#lastBoundary(chunk)
    if (end < 0) return { bytes: undefined, events: [], early: this.#keep(chunk), firstIsPartlySent: false }
    const firstIsPartlySent = this.#sentBytes > 0
    const head = chunk.subarray(0, end)
    const whole = this.#open.length === 0 ? head : concat([...this.#open, head])
    const bytes = firstIsPartlySent ? head : whole
    const events = this.#forgotten ? [] : splitEvents(this.#decoder.decode(whole))
    this.#open = []
    this.#openBytes = 0
    this.#sentBytes = 0
    this.#forgotten = false
    const rest = chunk.subarray(end)
    const early = rest.length > 0 ? this.#keep(rest) : undefined
    return { bytes, events, early, firstIsPartlySent }
  }

  /** What is left when the stream ends without a final blank line: its text, and the bytes not yet forwarded. */
  finish(): { text: string; bytes: Uint8Array | undefined } {
    const whole = concat(this.#open)
    const unsent = this.#sentBytes > 0 ? undefined : whole
    this.#open = []
    return { text: this.#decoder.decode(whole), bytes: unsent && unsent.length > 0 ? unsent : undefined }
  }

  #keep(bytes: Uint8Array): Uint8Array | undefined {
    this.#openBytes += bytes.length
    const tooLong = this.#openBytes > this.#holdBackBytes
    const early = tooLong ? (this.#sentBytes > 0 ? bytes : concat([...this.#open, bytes])) : undefined
    if (early) this.#sentBytes += early.length
    if (this.#openBytes > this.#rememberBytes) {
      this.#forgotten = true
      this.#open = [bytes.slice(-4)]
    } else {
      // The runtime may reuse the chunk's memory once it has been handed on, so what is kept is copied.
      this.#open.push(bytes.slice())
    }
    return early
  }

  /** End of the last blank line in what is open plus `chunk`, as an offset into `chunk`; -1 when there is none. */
  #lastBoundary(chunk: Uint8Array): number {
    for (let i = chunk.length - 1; i >= 0; i--) {
      if (chunk[i] === lf && this.#endsBlankLine(chunk, i)) return i + 1
      // Bare CR line ends: a blank line is CR CR, but CR LF pairs are handled above.
      if (chunk[i] === cr && this.#at(chunk, i - 1) === cr && chunk[i + 1] !== lf) return i + 1
    }
    return -1
  }

  #endsBlankLine(chunk: Uint8Array, at: number): boolean {
    const before = this.#at(chunk, at - 1)
    if (before === lf) return true
    return before === cr && this.#at(chunk, at - 2) === lf
  }

  /** The byte at an offset that may lie before `chunk`, in what was kept. */
  #at(chunk: Uint8Array, index: number): number | undefined {
    if (index >= 0) return chunk[index]
    let back = -index
    for (let i = this.#open.length - 1; i >= 0; i--) {
      const part = this.#open[i] as Uint8Array
      if (back <= part.length) return part[part.length - back]
      back -= part.length
    }
    return undefined
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0] as Uint8Array
  return Buffer.concat(parts)
}

function splitEvents(text: string): string[] {
  if (text.includes('\r'))
    return text.match(/[\s\S]*?(?:\r\n\r\n|\n\n|\r\r|\n\r\n|$)/g)?.filter((event) => event !== '') ?? []
  const events: string[] = []
  for (let from = 0; from < text.length; ) {
    const at = text.indexOf('\n\n', from)
    const end = at < 0 ? text.length : at + 2
    events.push(text.slice(from, end))
    from = end
  }
  return events
}

/** The `data` of one raw event (its lines joined by LF), or undefined when it has none (comments, `event:` alone). */
export function sseData(event: string): string | undefined {
  if (event.startsWith('data:')) {
    const end = event.indexOf('\n')
    // The usual form: one data line and the blank line.
    if (end >= 0 && end === event.length - 2) return event.slice(event[5] === ' ' ? 6 : 5, end)
  }
  let data: string | undefined
  for (const line of event.split(/\r\n|\n|\r/)) {
    if (!line.startsWith('data:')) continue
    const value = line.slice(line[5] === ' ' ? 6 : 5)
    data = data === undefined ? value : `${data}\n${value}`
  }
  return data
}
