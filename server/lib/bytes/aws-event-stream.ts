import { crc32 } from 'node:zlib'
import { GatheredBytes } from './gathered-bytes.ts'
import { type Framing, unreadableMessage } from './reframe.ts'

/** One message of an event stream: the headers whose values are texts, and the payload. */
export interface AwsMessage {
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Uint8Array
}

const preludeBytes = 12
const checksumBytes = 4
/** The maximum length of a message that the format allows, including its headers. */
const mostBytes = 24 * 1024 * 1024 + 128 * 1024

/**
 * Reads AWS's event stream (`application/vnd.amazon.eventstream`), which consists of binary messages with two
 * checksums. `write` returns the text to pass on for each message, or undefined to pass on nothing. After a message
 * with a wrong checksum, the rest of the stream is not read.
 */
export class AwsEventFraming implements Framing {
  readonly #write: (message: AwsMessage) => string | undefined
  readonly #gathered = new GatheredBytes(preludeBytes)
  #broken = false

  constructor(write: (message: AwsMessage) => string | undefined) {
    this.#write = write
  }

  push(bytes: Uint8Array): string[] {
    if (this.#broken) return []
    const open = this.#gathered.take(bytes)
    const out: string[] = []
    if (!open) return out
    let at = 0
    let needed = preludeBytes
    while (open.length - at >= preludeBytes) {
      const length = messageLength(open.subarray(at))
      if (length !== undefined && open.length - at < length) {
        needed = length
        break
      }
      const message = length === undefined ? undefined : readMessage(open.subarray(at, at + length))
      if (length === undefined || message === undefined) {
        this.#broken = true
        return [...out, unreadableMessage]
      }
      const text = this.#write(message)
      if (text !== undefined) out.push(text)
      at += length
    }
    this.#gathered.keep(open.subarray(at), needed)
    return out
  }

  finish(): string[] {
    return []
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The length of the message at the start of `bytes`; undefined if its prelude is damaged. */
function messageLength(bytes: Uint8Array): number | undefined {
  const view = viewOf(bytes)
  const length = view.getUint32(0)
  const headers = view.getUint32(4)
  const isWhole = view.getUint32(8) === crc32(bytes.subarray(0, 8))
  const fits = length >= preludeBytes + headers + checksumBytes && length <= mostBytes
  return isWhole && fits ? length : undefined
}

function readMessage(bytes: Uint8Array): AwsMessage | undefined {
  const view = viewOf(bytes)
  const end = bytes.length - checksumBytes
  if (view.getUint32(end) !== crc32(bytes.subarray(0, end))) return undefined
  const headersEnd = preludeBytes + view.getUint32(4)
  const headers = readHeaders(bytes.subarray(preludeBytes, headersEnd))
  return headers && { headers, payload: bytes.subarray(headersEnd, end) }
}

/**
 * The length of a header's value in bytes, for each type whose length is fixed. Texts and byte arrays contain their
 * length before the value.
 */
const fixedBytes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }
const byteArray = 6
const text = 7

function readHeaders(bytes: Uint8Array): Map<string, string> | undefined {
  const headers = new Map<string, string>()
  const view = viewOf(bytes)
  const decoder = new TextDecoder()
  try {
    for (let at = 0; at < bytes.length; ) {
      const nameEnd = at + 1 + view.getUint8(at)
      const name = decoder.decode(bytes.subarray(at + 1, nameEnd))
      const type = view.getUint8(nameEnd)
      const isSized = type === text || type === byteArray
      const from = nameEnd + (isSized ? 3 : 1)
      const length = isSized ? view.getUint16(nameEnd + 1) : fixedBytes[type]
      if (length === undefined) return undefined
      if (type === text) headers.set(name, decoder.decode(bytes.subarray(from, from + length)))
      at = from + length
    }
    return headers
  } catch {
    return undefined
  }
}
