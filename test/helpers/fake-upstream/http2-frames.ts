import { Buffer } from 'node:buffer'

/** Frame types of RFC 9113 section 6. */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  window: 8,
  continuation: 9,
} as const

/** Frame flags. */
export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const

/** Error codes that tests use. */
export const H2_ERROR = { none: 0, protocol: 1, internal: 2, refusedStream: 7, cancel: 8, enhanceYourCalm: 11 } as const

/** What a client sends before its first frame. */
export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/** The bytes of one frame. */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const bytes = Buffer.alloc(9 + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = type
  bytes[4] = flags
  bytes.writeUInt32BE(streamId & 0x7fffffff, 5)
  bytes.set(payload, 9)
  return bytes
}

/** Consecutive big-endian 32-bit numbers, which are the payload of RST_STREAM, GOAWAY and WINDOW_UPDATE. */
export function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * index)
  return bytes
}

/** The payload of a SETTINGS frame. */
export function settings(pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  const bytes = Buffer.alloc(6 * pairs.length)
  for (const [index, [id, value]] of pairs.entries()) {
    bytes.writeUInt16BE(id, 6 * index)
    bytes.writeUInt32BE(value, 6 * index + 2)
  }
  return bytes
}

/** The payload without padding and priority fields. */
export function unpadded(flags: number, payload: Buffer, isHeaders: boolean): Buffer {
  let start = 0
  let end = payload.length
  if (flags & FLAG.padded) {
    end -= payload[0] ?? 0
    start = 1
  }
  if (isHeaders && flags & FLAG.priority) start += 5
  return payload.subarray(start, end)
}
