import { describe, expect, test } from 'bun:test'
import { isEventStream, SseSplitter, sseData } from './sse.ts'

/** What the splitter returns for a stream that arrives in chunks, which end at the given offsets. */
function run(source: Uint8Array, cuts: readonly number[], holdBack?: number, remember?: number) {
  const splitter = new SseSplitter(holdBack, remember)
  // Slices of a Buffer would share its memory.
  const bytes = new Uint8Array(source)
  const sent: Uint8Array[] = []
  const data: (string | undefined)[] = []
  const ends = [0, ...cuts, bytes.length]
  for (let index = 1; index < ends.length; index++) {
    // Each chunk is a copy that is wiped afterwards, because the runtime may reuse the memory of a chunk.
    const chunk = bytes.slice(ends[index - 1], ends[index])
    const block = splitter.push(chunk)
    if (block.bytes) sent.push(block.bytes.slice())
    if (block.early) sent.push(block.early.slice())
    for (const event of block.events) data.push(event.data)
    if (block.firstRest) expect(block.bytes?.subarray(0, block.firstRest.length)).toEqual(block.firstRest)
    // `from` and `to` are offsets in the text. The rest of a partly sent event and the texts of the other events
    // together are exactly the bytes of the block.
    const text = block.events.map(({ from, to }) => block.text.slice(from, to)).join('')
    if (block.bytes && !bytes.includes(0xef)) {
      expect(Buffer.concat([block.firstRest ?? new Uint8Array(0), Buffer.from(text)])).toEqual(Buffer.from(block.bytes))
    }
    chunk.fill(0)
  }
  const wasPartlySent = splitter.partlySent
  const rest = splitter.finish()
  return { bytes: Buffer.concat(sent), data, rest, wasPartlySent }
}

const lineEnds = { LF: '\n', CRLF: '\r\n', CR: '\r' }

describe('SseSplitter', () => {
  for (const [name, end] of Object.entries(lineEnds)) {
    const text = [
      `data: {"a":"é東🚀"}${end}${end}`,
      `: comment${end}${end}`,
      `event: x${end}id: 1${end}data:no space${end}${end}`,
      `data: two${end}data: lines${end}${end}`,
      `data:${end}${end}`,
      `data: [DONE]${end}${end}`,
    ].join('')
    const bytes = Buffer.from(text)
    const expected = ['{"a":"é東🚀"}', undefined, 'no space', 'two\nlines', '', '[DONE]']

    test(`${name}: a single cut at any offset gives the same events and every byte`, () => {
      for (let cut = 0; cut <= bytes.length; cut++) {
        const result = run(bytes, [cut])
        expect([cut, result.data]).toEqual([cut, expected])
        expect(result.bytes.equals(bytes)).toBe(true)
        expect(result.rest.text).toBe('')
      }
    })

    test(`${name}: two cuts at any pair of offsets give the same events and every byte`, () => {
      const short = Buffer.from(`data: é${end}${end}: c${end}${end}data: b${end}${end}`)
      for (let first = 0; first <= short.length; first++) {
        for (let second = first; second <= short.length; second++) {
          const result = run(short, [first, second])
          expect([first, second, result.data]).toEqual([first, second, ['é', undefined, 'b']])
          expect(result.bytes.equals(short)).toBe(true)
        }
      }
    })

    test(`${name}: a split after each byte gives the same events and every byte, with any hold-back limit`, () => {
      const cuts = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1)
      for (const holdBack of [0, 1, 5, 10, 1000]) {
        const result = run(bytes, cuts, holdBack)
        expect([holdBack, result.data]).toEqual([holdBack, expected])
        expect(result.bytes.equals(bytes)).toBe(true)
      }
    })

    test(`${name}: an event that is too long to remember is still forwarded, and later events are understood`, () => {
      const long = Buffer.from(`data: ${'x'.repeat(100)}${end}${end}data: [DONE]${end}${end}`)
      for (let cut = 60; cut < long.length; cut++) {
        const result = run(long, [20, 40, 60, cut], 10, 50)
        expect(result.bytes.equals(long)).toBe(true)
        expect(result.data.at(-1)).toBe('[DONE]')
      }
    })
  }

  test('reports the rest of a stream that has no final blank line, and whether it was sent', () => {
    const held = run(Buffer.from('data: a\n\ndata: b'), [])
    expect(held).toMatchObject({ data: ['a'], rest: { text: 'data: b' }, wasPartlySent: false })
    expect(Buffer.from(held.rest.bytes ?? []).toString()).toBe('data: b')
    const sent = run(Buffer.from('data: a\n\ndata: long'), [], 4)
    expect(sent).toMatchObject({ data: ['a'], rest: { text: 'data: long', bytes: undefined }, wasPartlySent: true })
    expect(sent.bytes.toString()).toBe('data: a\n\ndata: long')
  })

  test('a byte order mark is not part of the data', () => {
    expect(run(Buffer.from('\ufeffdata: a\n\ndata: b\n\n'), []).data).toEqual(['a', 'b'])
  })

  test('extra blank lines do not create events', () => {
    const { data } = run(Buffer.from('\n\ndata: a\n\n\n\ndata: b\n\n'), [])
    expect(data.filter((each) => each !== undefined)).toEqual(['a', 'b'])
  })

  test('bytes that are not UTF-8 are passed on unchanged', () => {
    const bytes = Buffer.concat([Buffer.from('data: '), Buffer.from([0xff, 0xfe, 0xef]), Buffer.from('\n\n')])
    expect(run(bytes, [7]).bytes.equals(bytes)).toBe(true)
  })
})

test('sseData joins the data lines of an event and drops its other lines', () => {
  expect(sseData('data: a\n\n')).toBe('a')
  expect(sseData('data:a\n\n')).toBe('a')
  expect(sseData('data:  a\n\n')).toBe(' a')
  expect(sseData('event: x\ndata: a\ndata: b\nretry: 5\n\n')).toBe('a\nb')
  expect(sseData(': comment\n\n')).toBeUndefined()
  expect(sseData('event: ping\n\n')).toBeUndefined()
  expect(sseData('database: a\n\n')).toBeUndefined()
})

test('a response is an event stream for any spelling of the media type, with or without a charset', () => {
  const isStream = (type: string) => isEventStream(new Headers({ 'content-type': type }))
  expect(isStream('text/event-stream')).toBe(true)
  expect(isStream('Text/Event-Stream;charset=UTF-8')).toBe(true)
  expect(isStream('application/json')).toBe(false)
  expect(isEventStream(new Headers())).toBe(false)
})
