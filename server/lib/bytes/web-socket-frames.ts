import { GatheredBytes } from './gathered-bytes.ts'

/** One message of a WebSocket, assembled from its frames (RFC 6455, section 5). */
export type SocketMessage =
  | { readonly kind: 'text'; readonly data: string }
  | { readonly kind: 'binary'; readonly data: Uint8Array }
  | { readonly kind: 'ping'; readonly data: Uint8Array }
  | { readonly kind: 'pong'; readonly data: Uint8Array }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }

/**
 * The codes for a connection that was closed without a code, and for a connection that was lost without a close frame.
 * They are never sent (RFC 6455, section 7.4.1).
 */
export const noCode = 1005
export const vanished = 1006

const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/**
 * Thrown if the server violates the protocol or sends a message that is too long. `code` is the code for the close
 * frame.
 */
export class FrameFault extends Error {
  readonly code: 1002 | 1007 | 1009

  constructor(code: FrameFault['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** A frame as a client sends it: masked with four random bytes. */
export function clientFrame(kind: keyof typeof opcodes, payload: Uint8Array, mask: Uint8Array): Uint8Array {
  const { length } = payload
  const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const frame = Buffer.allocUnsafe(2 + extra + 4 + length)
  frame[0] = 0x80 | opcodes[kind]
  frame[1] = 0x80 | (extra === 0 ? length : extra === 2 ? 126 : 127)
  if (extra === 2) frame.writeUInt16BE(length, 2)
  if (extra === 8) frame.writeBigUInt64BE(BigInt(length), 2)
  const from = 2 + extra + 4
  frame.set(mask, from - 4)
  const [a = 0, b = 0, c = 0, d = 0] = mask
  const masks = [a, b, c, d] as const
  for (let index = 0; index < length; index++) {
    frame[from + index] = (payload[index] ?? 0) ^ (masks[(index & 3) as 0 | 1 | 2 | 3] ?? 0)
  }
  return frame
}

/** The payload of a close frame. It is empty for codes that are never sent. */
export function closePayload(code: number, reason: string): Uint8Array {
  if (code === noCode || code === vanished) return new Uint8Array(0)
  const text = truncated(reason, 123)
  const payload = Buffer.allocUnsafe(2 + text.length)
  payload.writeUInt16BE(code, 0)
  payload.set(text, 2)
  return payload
}

/** A text in UTF-8, truncated between two characters to at most `mostBytes` bytes. */
function truncated(text: string, mostBytes: number): Uint8Array {
  const bytes = Buffer.from(text)
  let end = Math.min(bytes.length, mostBytes)
  while (end < bytes.length && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}

/** Every frame has a header of at least two bytes. */
const leastHeadBytes = 2

interface Head {
  final: boolean
  opcode: number
  headBytes: number
  payloadBytes: number
}

/** Assembles the messages of a server from the bytes as they arrive. `mostBytes` is the maximum length of a message. */
export class FrameReader {
  readonly #mostBytes: number
  readonly #gathered = new GatheredBytes(leastHeadBytes)
  /** A message that arrives in several frames. */
  #parts: { opcode: number; bytes: Uint8Array[]; size: number } | undefined

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Returns the messages that these bytes complete. Throws FrameFault. After that, `push` must not be called again. */
  push(bytes: Uint8Array): SocketMessage[] {
    const all = this.#gathered.take(bytes)
    const messages: SocketMessage[] = []
    if (!all) return messages
    let at = 0
    for (;;) {
      const head = this.#headAt(all, at)
      if (typeof head === 'number') {
        this.#gathered.keep(all.subarray(at), head)
        return messages
      }
      const from = at + head.headBytes
      at = from + head.payloadBytes
      const message = this.#take(head, all.subarray(from, at))
      if (message) messages.push(message)
    }
  }

  /** The header of a frame if the frame is complete, otherwise the number of bytes that are needed to continue. */
  #headAt(all: Uint8Array, at: number): Head | number {
    const size = all.length - at
    const [first, second] = [all[at], all[at + 1]]
    if (first === undefined || second === undefined) return leastHeadBytes
    if ((first & 0x70) !== 0) throw new FrameFault(1002, 'an extension that was not agreed on')
    if ((second & 0x80) !== 0) throw new FrameFault(1002, 'a masked frame of a server')
    const short = second & 0x7f
    const headBytes = short < 126 ? leastHeadBytes : short === 126 ? 4 : 10
    if (size < headBytes) return headBytes
    const view = new DataView(all.buffer, all.byteOffset + at, headBytes)
    const payloadBytes = short < 126 ? short : short === 126 ? view.getUint16(2) : Number(view.getBigUint64(2))
    if (payloadBytes + (this.#parts?.size ?? 0) > this.#mostBytes) throw new FrameFault(1009, 'too long a message')
    if (size < headBytes + payloadBytes) return headBytes + payloadBytes
    return { final: (first & 0x80) !== 0, opcode: first & 0x0f, headBytes, payloadBytes }
  }

  #take({ final, opcode }: Head, payload: Uint8Array): SocketMessage | undefined {
    if (opcode >= 8) {
      if (!final || payload.length > 125) throw new FrameFault(1002, 'a control frame that is too long')
      return control(opcode, payload)
    }
    if ((opcode === 0) !== (this.#parts !== undefined)) throw new FrameFault(1002, 'frames out of order')
    const parts = this.#parts ?? { opcode, bytes: [], size: 0 }
    this.#parts = parts
    parts.bytes.push(payload)
    parts.size += payload.length
    if (!final) return undefined
    this.#parts = undefined
    const [only] = parts.bytes
    return whole(parts.opcode, only && parts.bytes.length === 1 ? only : Buffer.concat(parts.bytes))
  }
}

function whole(opcode: number, payload: Uint8Array): SocketMessage {
  if (opcode === opcodes.text) return { kind: 'text', data: textOf(payload) }
  if (opcode === opcodes.binary) return { kind: 'binary', data: payload }
  throw new FrameFault(1002, 'an unknown kind of frame')
}

function control(opcode: number, payload: Uint8Array): SocketMessage {
  if (opcode === opcodes.ping) return { kind: 'ping', data: payload }
  if (opcode === opcodes.pong) return { kind: 'pong', data: payload }
  if (opcode !== opcodes.close) throw new FrameFault(1002, 'an unknown kind of frame')
  const [high, low] = payload
  if (high === undefined) return { kind: 'close', code: noCode, reason: '' }
  if (low === undefined) throw new FrameFault(1002, 'half a close code')
  const code = high * 256 + low
  if (!maySend(code)) throw new FrameFault(1002, 'a close code that may not be sent')
  return { kind: 'close', code, reason: textOf(payload.subarray(2)) }
}

/** True for a code that is allowed in a close frame: a registered code, or one for libraries and applications. */
function maySend(code: number): boolean {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999)
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(payload: Uint8Array): string {
  try {
    return decoder.decode(payload)
  } catch {
    throw new FrameFault(1007, 'text that is no UTF-8')
  }
}
