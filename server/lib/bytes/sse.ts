import { isObject, tryParse } from '../json.ts'

/** True for the headers of a response that is an event stream. Media types are case-insensitive (RFC 9110, 8.3.1). */
export function isEventStream(headers: Headers): boolean {
  const type = headers.get('content-type') ?? ''
  return type.startsWith('text/event-stream') || type.toLowerCase().startsWith('text/event-stream')
}

/** Complete events from a stream, with the bytes in which they arrived. */
export interface SseBlock {
  /** The bytes of these events, except those that have already been sent; undefined if there are none. */
  bytes: Uint8Array | undefined
  /**
   * The complete events, split on demand. Their ranges refer to `text`. An event that was forwarded in part is among
   * them, but is not in `text`.
   */
  readonly events: SseEvent[]
  text: string
  /**
   * Bytes of an incomplete event that is too long to wait for. They must be forwarded now. The event itself is reported
   * when it is complete.
   */
  early: Uint8Array | undefined
  /** The rest of the first event, if its beginning has already been forwarded. It is also at the start of `bytes`. */
  firstRest: Uint8Array | undefined
}

/**
 * One event, with its range in the text. `data` is undefined if the event has only comments or an `event:` field.
 * Several lines of data are joined by LF.
 */
export interface SseEvent {
  data: string | undefined
  /** The lines of `data`, if there are several or if one has no field name. */
  lines?: readonly string[]
  from: number
  /** The offset after the event's blank line. */
  to: number
}

/** The decoder decodes only complete events, so it keeps no state between calls, and all streams can share it. */
const decoder = new TextDecoder()

const lf = 10
const cr = 13

/**
 * Splits a byte stream into server-sent events of any length. An incomplete event is kept until its blank line arrives.
 * An event that is longer than `holdBackBytes` is forwarded while it arrives. Up to `rememberBytes` of such an event
 * are kept for metering.
 */
export class SseSplitter {
  #open: Uint8Array[] = []
  #openBytes = 0
  #sentBytes = 0
  #forgotten = false
  readonly #holdBackBytes: number
  readonly #rememberBytes: number

  constructor(holdBackBytes = 256 * 1024, rememberBytes = 32 * 1024 * 1024) {
    this.#holdBackBytes = holdBackBytes
    this.#rememberBytes = rememberBytes
  }

  /**
   * True while only the first part of an event has been forwarded. Nothing else may be sent until the end of the event
   * arrives.
   */
  get partlySent(): boolean {
    return this.#sentBytes > 0
  }

  push(chunk: Uint8Array): SseBlock {
    const end = this.#lastBoundary(chunk)
    if (end < 0) return { bytes: undefined, events: [], text: '', early: this.#keep(chunk), firstRest: undefined }
    const block = this.partlySent ? this.#closePartlySent(chunk, end) : this.#close(chunk.subarray(0, end))
    this.#open = []
    this.#openBytes = 0
    this.#sentBytes = 0
    this.#forgotten = false
    const rest = chunk.subarray(end)
    if (rest.length > 0) block.early = this.#keep(rest)
    return block
  }

  #close(head: Uint8Array): SseBlock {
    const bytes = this.#open.length === 0 ? head : concat([...this.#open, head])
    const text = decoder.decode(bytes)
    return {
      bytes,
      text,
      early: undefined,
      firstRest: undefined,
      get events() {
        return splitEvents(text)
      },
    }
  }

  #closePartlySent(chunk: Uint8Array, end: number): SseBlock {
    const firstEnd = this.#firstBoundary(chunk)
    const firstRest = chunk.subarray(0, firstEnd)
    const first = this.#forgotten ? { data: undefined } : dataOf(decoder.decode(concat([...this.#open, firstRest])))
    const text = decoder.decode(chunk.subarray(firstEnd, end))
    const events = [{ ...first, from: 0, to: 0 }, ...splitEvents(text)]
    return { bytes: chunk.subarray(0, end), events, text, early: undefined, firstRest }
  }

  /**
   * Must be called when the stream has ended. If it has no final blank line, returns the remaining text and the bytes
   * that have not been forwarded.
   */
  finish(): { text: string; bytes: Uint8Array | undefined } {
    const whole = concat(this.#open)
    const unsent = this.#sentBytes > 0 ? undefined : whole
    this.#open = []
    return { text: decoder.decode(whole), bytes: unsent && unsent.length > 0 ? unsent : undefined }
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
      // The runtime may reuse the chunk's memory after it has been passed on, so bytes that are kept are copied.
      this.#open.push(bytes.slice())
    }
    return early
  }

  /**
   * The end of the last blank line in the kept bytes and `chunk`, as an offset in `chunk`; -1 if there is no blank
   * line.
   */
  #lastBoundary(chunk: Uint8Array): number {
    for (let i = chunk.length - 1; i >= 0; i--) if (this.#endsBlankLine(chunk, i)) return i + 1
    return -1
  }

  /** The end of the first blank line. Only called if there is one. */
  #firstBoundary(chunk: Uint8Array): number {
    let i = 0
    while (i < chunk.length && !this.#endsBlankLine(chunk, i)) i++
    return i + 1
  }

  #endsBlankLine(chunk: Uint8Array, at: number): boolean {
    // If lines end with CR only, a blank line is CR CR. The two CRs in CR LF CR LF are not a blank line of this kind.
    if (chunk[at] === cr) return this.#at(chunk, at - 1) === cr && chunk[at + 1] !== lf
    if (chunk[at] !== lf) return false
    const before = this.#at(chunk, at - 1)
    if (before === lf) return true
    return before === cr && this.#at(chunk, at - 2) === lf
  }

  /** The byte at an offset. An offset before `chunk` refers to the kept bytes. */
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

/** Splits a text of complete events. */
function splitEvents(text: string): SseEvent[] {
  const events: SseEvent[] = []
  if (text.includes('\r')) {
    let from = 0
    for (const [event] of text.matchAll(/[\s\S]+?(?:\r\n\r\n|\n\n|\r\r|\n\r\n|$)/g)) {
      events.push({ ...dataOf(event), from, to: from + event.length })
      from += event.length
    }
    return events
  }
  for (let from = 0; from < text.length; ) {
    const event = eventAt(text, from)
    events.push(event)
    from = event.to
  }
  return events
}

/** True if one of a block's events matches. The text after the match is not split. */
export function someEvent(block: SseBlock, isIt: (event: SseEvent) => boolean): boolean {
  const { text } = block
  if (block.firstRest || text.includes('\r')) return block.events.some(isIt)
  for (let from = 0; from < text.length; ) {
    const event = eventAt(text, from)
    if (isIt(event)) return true
    from = event.to
  }
  return false
}

/** The event that begins at `from` in a text of complete events without CR. */
export function eventAt(text: string, from: number): SseEvent {
  const line = text.indexOf('\n', from)
  // The most common form: one data line and a blank line.
  if (text.startsWith('data: ', from) && text.charCodeAt(line + 1) === lf) {
    return { data: text.slice(from + 6, line), from, to: line + 2 }
  }
  // The second most common form: the event's name, one data line and a blank line.
  if (text.startsWith('event: ', from) && text.startsWith('data: ', line + 1)) {
    const end = text.indexOf('\n', line + 1)
    if (text.charCodeAt(end + 1) === lf) return { data: text.slice(line + 7, end), from, to: end + 2 }
  }
  const at = text.indexOf('\n\n', from)
  const to = at < 0 ? text.length : at + 2
  return { ...dataOf(text.slice(from, to)), from, to }
}

/**
 * The `data` of one raw event (its lines joined by LF), or undefined if the event has none (only comments or an
 * `event:` field).
 */
export function sseData(event: string): string | undefined {
  return dataOf(event).data
}

/**
 * The messages in an event. Usually, the data is the only message. If several lines of data together are not a JSON
 * object, each line is a message, because some servers omit the blank lines between events.
 */
export function messagesIn({ data, lines }: Pick<SseEvent, 'data' | 'lines'>): readonly string[] {
  if (data === undefined) return []
  if (!lines || lines.length < 2 || isObject(tryParse(data))) return [data]
  return lines.filter((line) => line.trim() !== '')
}

/** Matches comments and fields. Fields with unknown names are ignored (HTML standard, 9.2.6). */
const field = /^(?:[\w-]*:|(?:event|id|retry|data)$)/

/**
 * The data of an event. A line without a field name also counts as data, because some servers write a raw error between
 * the events of a stream.
 */
function dataOf(event: string): Pick<SseEvent, 'data' | 'lines'> {
  const lines: string[] = []
  let isBare = false
  for (const line of event.split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) lines.push(line.slice(line[5] === ' ' ? 6 : 5))
    else if (line !== '' && !field.test(line)) {
      lines.push(line)
      isBare = true
    }
  }
  const data = lines.length === 0 ? undefined : lines.join('\n')
  return lines.length > 1 || isBare ? { data, lines } : { data }
}
