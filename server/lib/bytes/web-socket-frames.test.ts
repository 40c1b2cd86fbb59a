import { describe, expect, test } from 'bun:test'
import { clientFrame, closePayload, FrameFault, FrameReader, type SocketMessage } from './web-socket-frames.ts'

/** A frame as a server sends it. */
function frame(opcode: number, payload: Uint8Array | string, final = true): Uint8Array {
  const bytes = Buffer.from(payload)
  const head = [(final ? 0x80 : 0) | opcode]
  if (bytes.length < 126) head.push(bytes.length)
  else if (bytes.length < 65_536) head.push(126, bytes.length >> 8, bytes.length & 0xff)
  else {
    const length = Buffer.alloc(8)
    length.writeBigUInt64BE(BigInt(bytes.length))
    head.push(127, ...length)
  }
  return Buffer.concat([Buffer.from(head), bytes])
}

const long = 'ä'.repeat(40_000)
const wire = Buffer.concat([
  frame(1, 'hello'),
  frame(2, new Uint8Array([1, 2, 3])),
  frame(1, 'in ', false),
  frame(9, 'ping'),
  frame(0, 'several ', false),
  frame(0, 'parts'),
  frame(1, ''),
  frame(10, 'pong'),
  frame(1, 'x'.repeat(126)),
  frame(1, long),
  frame(8, closePayload(4001, 'bye')),
])
const messages = [
  { kind: 'text', data: 'hello' },
  { kind: 'binary', data: [1, 2, 3] },
  { kind: 'ping', data: [...Buffer.from('ping')] },
  { kind: 'text', data: 'in several parts' },
  { kind: 'text', data: '' },
  { kind: 'pong', data: [...Buffer.from('pong')] },
  { kind: 'text', data: 'x'.repeat(126) },
  { kind: 'text', data: long },
  { kind: 'close', code: 4001, reason: 'bye' },
]

const plain = (message: SocketMessage) =>
  'data' in message && typeof message.data !== 'string' ? { ...message, data: [...message.data] } : message

function faultOf(...frames: Uint8Array[]): number {
  const reader = new FrameReader(1000)
  try {
    for (const each of frames) reader.push(each)
  } catch (error) {
    if (error instanceof FrameFault) return error.code
  }
  return 0
}

describe('WebSocket frames', () => {
  test('give the same messages wherever the bytes are split', () => {
    for (const size of [1, 2, 3, 7, 100, 4096, 70_000, wire.length]) {
      const reader = new FrameReader(1_000_000)
      const found: SocketMessage[] = []
      for (let at = 0; at < wire.length; at += size) found.push(...reader.push(wire.subarray(at, at + size)))
      expect(found.map(plain) as unknown).toEqual(messages)
    }
  })

  test('received from a server must follow the protocol', () => {
    expect(faultOf(clientFrame('text', Buffer.from('masked'), new Uint8Array(4)))).toBe(1002)
    expect(faultOf(frame(3, 'unknown'))).toBe(1002)
    expect(faultOf(frame(11, 'unknown'))).toBe(1002)
    expect(faultOf(frame(0, 'goes on with nothing'))).toBe(1002)
    expect(faultOf(frame(1, 'one', false), frame(1, 'another'))).toBe(1002)
    expect(faultOf(frame(9, 'ping', false))).toBe(1002)
    expect(faultOf(frame(9, 'x'.repeat(126)))).toBe(1002)
    expect(faultOf(frame(8, 'x'))).toBe(1002)
    expect(faultOf(new Uint8Array([0xc1, 0]))).toBe(1002)
    for (const code of [0, 999, 1004, 1005, 1006, 1015, 2999, 5000])
      expect(faultOf(frame(8, new Uint8Array([code >> 8, code & 0xff])))).toBe(1002)
    expect(faultOf(frame(1, new Uint8Array([0xc3, 0x28])))).toBe(1007)
    expect(faultOf(frame(1, 'x'.repeat(1001)))).toBe(1009)
    expect(faultOf(frame(1, 'x'.repeat(600), false), frame(0, 'x'.repeat(600)))).toBe(1009)
    expect(faultOf(frame(1, 'x'.repeat(1000)))).toBe(0)
  })

  test('that are too long are refused as soon as their header is read, before the payload arrives', () => {
    expect(faultOf(frame(2, new Uint8Array(70_000)).subarray(0, 10))).toBe(1009)
  })

  test('from a client are masked, whatever the size of their length field', () => {
    const mask = new Uint8Array([1, 2, 3, 4])
    for (const length of [0, 1, 125, 126, 65_535, 65_536]) {
      const payload = new Uint8Array(length).map((_, at) => at)
      const made = Buffer.from(clientFrame('binary', payload, mask))
      expect([made[0], (made[1] ?? 0) & 0x80]).toEqual([0x82, 0x80])
      const body = made.subarray(made.length - length)
      expect(body.every((byte, at) => ((byte ^ (mask[at % 4] ?? 0)) & 0xff) === payload[at])).toBe(true)
      expect([...made.subarray(made.length - length - 4, made.length - length)]).toEqual([...mask])
    }
  })

  test('that close a connection have a reason truncated between two characters, and have no payload if the code must not be sent', () => {
    const payload = Buffer.from(closePayload(1000, 'ä'.repeat(100)))
    expect(payload.length).toBe(124)
    expect(payload.subarray(2).toString()).toBe('ä'.repeat(61))
    expect(closePayload(1005, 'x').length).toBe(0)
    expect(closePayload(1006, '').length).toBe(0)
  })
})
