import { describe, expect, test } from 'bun:test'
import { crc32 } from 'node:zlib'
import { awsFrame } from '../../../test/helpers/aws-frames.ts'
import { AwsEventFraming } from './aws-event-stream.ts'
import { asEvents, asJson, type Framing, LineFraming, NamedEventFraming, unreadableMessage } from './reframe.ts'

/** All messages from bytes that arrive in pieces of a given size. */
function messages(framing: Framing, bytes: Uint8Array, size: number): string[] {
  const out: string[] = []
  for (let at = 0; at < bytes.length; at += size) out.push(...framing.push(bytes.subarray(at, at + size)))
  return [...out, ...framing.finish()]
}

const awsText = () =>
  new AwsEventFraming(({ headers, payload }) => `${headers.get(':event-type')} ${new TextDecoder().decode(payload)}`)

describe('lines', () => {
  const bytes = new TextEncoder().encode('{"a":"ä"}\r\n\n{"b":"😀"}\n{"c":1}')

  test('lines that are split at any byte give the same messages', () => {
    for (let size = 1; size <= bytes.length; size++)
      expect(messages(new LineFraming(), bytes, size)).toEqual(['{"a":"ä"}', '{"b":"😀"}', '{"c":1}'])
  })
})

describe('named events', () => {
  const text = 'event: output\r\nid: 1\r\ndata: ä\r\ndata: \r\n\r\n: comment\n\nevent:end\ndata:{"a":1}\n\ndata: last'
  const bytes = new TextEncoder().encode(text)

  test('named events that are split at any byte give the same messages', () => {
    for (let size = 1; size <= bytes.length; size++)
      expect(messages(new NamedEventFraming(), bytes, size).map((each) => JSON.parse(each) as unknown)).toEqual([
        { event: 'output', data: 'ä\n' },
        { event: 'end', data: { a: 1 } },
        { event: '', data: 'last' },
      ])
  })

  test('asJson converts a stream of named events to one object', async () => {
    const response = asJson(new Response(text), new NamedEventFraming(), (all) => ({ count: all.length }))
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual({ count: 3 })
  })

  test('asJson sends a space for each piece until the last event has arrived', async () => {
    const pieces = ['event: output\n', 'data: 1\n\n', 'data: 2']
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift()
        if (piece === undefined) controller.close()
        else controller.enqueue(new TextEncoder().encode(piece))
      },
    })
    const response = asJson(new Response(source), new NamedEventFraming(), (all) => ({ count: all.length }))
    const read: string[] = []
    for await (const bytes of response.body ?? []) read.push(new TextDecoder().decode(bytes))
    expect(read).toEqual([' ', ' ', ' ', '{"count":2}'])
  })
})

describe('AWS event streams', () => {
  const bytes = Buffer.concat([
    awsFrame({ ':event-type': 'first', ':message-type': 'event' }, '{"text":"ä"}'),
    awsFrame({ ':event-type': 'second' }, ''),
  ])

  test('AWS messages that are split at any byte give the same messages', () => {
    for (let size = 1; size <= bytes.length; size++)
      expect(messages(awsText(), bytes, size)).toEqual(['first {"text":"ä"}', 'second '])
  })

  test('a damaged byte at any position is detected, and no later message is returned', () => {
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Uint8Array.from(bytes)
      damaged[at] = (damaged[at] ?? 0) ^ 0x10
      const read = messages(awsText(), damaged, bytes.length)
      expect(read).not.toEqual(['first {"text":"ä"}', 'second '])
      expect(['first {"text":"ä"}', unreadableMessage]).toContain(read[0] ?? unreadableMessage)
      expect(read.slice(1).every((each) => each === unreadableMessage)).toBe(true)
    }
  })

  test('headers of all types other than text are skipped', () => {
    // The text header follows headers with a boolean, a byte, a short, an int, a long, bytes, a time and a UUID.
    const one = (name: string, type: number, value: number[]) => [name.length, ...Buffer.from(name), type, ...value]
    const zeros = (count: number) => Array.from({ length: count }, () => 0)
    const head = [
      ...one('t', 0, []),
      ...one('b', 2, zeros(1)),
      ...one('s', 3, zeros(2)),
      ...one('i', 4, zeros(4)),
      ...one('l', 5, zeros(8)),
      ...one('y', 6, [0, 2, 1, 1]),
      ...one('d', 8, zeros(8)),
      ...one('u', 9, zeros(16)),
      ...one(':event-type', 7, [0, 4, ...Buffer.from('last')]),
    ]
    const frame = awsFrame({}, '')
    const whole = withHeaders(frame, Uint8Array.from(head))
    expect(messages(awsText(), whole, whole.length)).toEqual(['last '])
  })

  test('messages may be long and arrive in small pieces', () => {
    const payload = 'x'.repeat(20 * 1024 * 1024)
    const bytes = Buffer.concat([awsFrame({ ':event-type': 'long' }, payload), awsFrame({ ':event-type': 'b' }, 'c')])
    const [long, last] = messages(awsText(), bytes, 500)
    expect([long?.length, last]).toEqual(['long '.length + payload.length, 'b c'])
  })
})

function withHeaders(frame: Uint8Array, head: Uint8Array): Uint8Array {
  expect(frame.length).toBe(16)
  const out = Buffer.alloc(16 + head.length)
  out.writeUInt32BE(out.length, 0)
  out.writeUInt32BE(head.length, 4)
  out.writeUInt32BE(crc32(out.subarray(0, 8)), 8)
  out.set(head, 12)
  out.writeUInt32BE(crc32(out.subarray(0, 12 + head.length)), 12 + head.length)
  return out
}

describe('asEvents', () => {
  const chunks = ['{"a":', '1}\n{"b"', ':2}\n']

  function answer(): { response: Response; pulled: () => number; cancelled: () => unknown } {
    let pulled = 0
    let cancelled: unknown
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const chunk = chunks[pulled++]
          if (chunk === undefined) controller.close()
          else controller.enqueue(new TextEncoder().encode(chunk))
        },
        cancel(reason) {
          cancelled = reason
        },
      },
      { highWaterMark: 0 },
    )
    const headers = { 'content-type': 'application/x-ndjson', 'content-length': '18', 'x-request-id': 'r' }
    return {
      response: asEvents(new Response(body, { status: 200, headers }), new LineFraming()),
      pulled: () => pulled,
      cancelled: () => cancelled,
    }
  }

  test('each message becomes a server-sent event, and the response keeps headers that are not about the body', async () => {
    const { response } = answer()
    expect(await response.text()).toBe('data: {"a":1}\n\ndata: {"b":2}\n\n')
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    expect(response.headers.get('content-length')).toBeNull()
    expect(response.headers.get('x-request-id')).toBe('r')
  })

  test('if the reader cancels, the source is cancelled', async () => {
    const { response, pulled, cancelled } = answer()
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel('enough')
    expect(cancelled()).toBe('enough')
    expect(pulled()).toBeLessThan(4)
  })

  test('an error of the source is passed on to the reader of the events', async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.error(new Error('gone'))
      },
    })
    expect(asEvents(new Response(body), new LineFraming()).text()).rejects.toThrow('gone')
  })
})
