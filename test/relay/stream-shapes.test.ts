import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chatStream, eventsOf, expectErrorEvent, type Rig, see, startRelayRig, textOf } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(() => rig[Symbol.asyncDispose]())

/** Characters of one to four bytes, and some that look like line endings. */
const words = ['Zürich', ' 東京', ' 🚀🏳️‍🌈', ' a\u2028b\u0085c', ' \r\n\n{"data: x"}', ' end']

const styles: Record<string, fake.SseStyle> = {
  'one event per write': {},
  'all in one write': { cut: 'whole' },
  'byte by byte': { cut: 'byte' },
  'cut inside every character': { cut: 'inside-character' },
  'three bytes at a time': { cut: 3 },
  'CRLF line endings': { lineEnd: '\r\n' },
  'CRLF line endings, byte by byte': { lineEnd: '\r\n', cut: 'byte' },
  'CR line endings': { lineEnd: '\r' },
  'CR line endings, byte by byte': { lineEnd: '\r', cut: 'byte' },
  'comments between the events': { comments: true },
  'comments, CRLF, byte by byte': { comments: true, lineEnd: '\r\n', cut: 'byte' },
  'data: without a space': { space: false },
  'data on several lines': { multiLine: true },
  'data on several lines, CRLF, seven bytes at a time': { multiLine: true, lineEnd: '\r\n', cut: 7 },
  'a byte order mark': { bom: true },
  'named events with ids': { named: true },
}

describe('a stream in any of these forms arrives completely and is charged correctly:', () => {
  for (const [name, style] of Object.entries(styles)) {
    test(name, async () => {
      const caller = await rig.caller()
      rig.upstream.next(fake.okStream({ chunks: words, style }))
      const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
      expect(textOf(seen.text.replace('\ufeff', ''))).toBe(words.join(''))
      expect(eventsOf(seen.text).at(-1)).toBe('[DONE]')
      // The usage chunk was requested by the gateway, not by the caller.
      expect(seen.text).not.toContain('"usage"')
      const [row] = await charged(rig, caller, 10 + words.length)
      expect(row).toMatchObject({ outcome: 'complete', estimated: 0, prompt_tokens: 10 })
    })
  }

  test('a caller who requests usage gets exactly the bytes that the upstream sent', async () => {
    const caller = await rig.caller()
    rig.upstream.next(fake.okStream({ chunks: words, style: { comments: true, named: true, lineEnd: '\r\n' } }))
    const body = { ...chatStream, stream_options: { include_usage: true } }
    const direct = await fetch(`${rig.upstream.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
    }).then((response) => response.text())
    rig.upstream.next(fake.okStream({ chunks: words, style: { comments: true, named: true, lineEnd: '\r\n' } }))
    const seen = await see(rig.gateway.post('/v1/chat/completions', body, caller.token))
    expect(seen.text).toBe(direct)
  })

  test('a last event of several lines that is not followed by a blank line', async () => {
    const caller = await rig.caller()
    rig.upstream.next(
      fake.behaviour('no last blank line', async (exchange) => {
        exchange.head(200, [['content-type', 'text/event-stream']])
        await exchange.write('data: {"choices":[{"index":0,"delta":{"content":"the "}}]}\n\n')
        await exchange.write('data: {"choices":[{"index":0,"finish_reason":"stop",\ndata: "delta":{"content":"end"}}]}')
        exchange.end()
      }),
    )
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    expect(textOf(seen.text)).toBe('the end')
    expect(eventsOf(seen.text).at(-1)).toBe('[DONE]')
  })

  test('gzip, although it was not requested', async () => {
    const caller = await rig.caller()
    rig.upstream.next(fake.gzipped(fake.okStream({ chunks: words })))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    expect(textOf(seen.text)).toBe(words.join(''))
    expect(seen.headers.get('content-encoding')).toBeNull()
    expect(rig.upstream.last.headers.get('accept-encoding')).toBe('identity')
    await charged(rig, caller, 10 + words.length)
  })
})

describe('an event of 20 MB on one line', () => {
  const bytes = 20 * 1024 * 1024
  const usage = { prompt_tokens: 10, completion_tokens: 25, total_tokens: 35 }

  test('is passed on, and the events after it are still parsed', async () => {
    // The gateway estimates far more tokens than the text has, and the upstream reports the actual number only at the
    // end. So the quota must cover the estimate for the whole text.
    const caller = await rig.caller({ user: 1e9, token: 1e9 })
    rig.upstream.next(fake.hugeEvent(bytes, { chunks: 20, usage }))
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    const text = textOf(seen.text)
    expect(text.length).toBe(bytes + 'word0 word1'.length + ' word2'.length * 8 + ' word10'.length * 10)
    expect(text.replace(/x+/, '|')).toStartWith('word0 word1| word2 word3')
    expect(seen.text.slice(-200)).not.toContain('usage')
    expect(eventsOf(seen.text).at(-1)).toBe('[DONE]')
    const [row] = await charged(rig, caller, 35, 1e9)
    expect(row).toMatchObject({ outcome: 'complete', estimated: 0 })
  }, 120_000)

  test('is not sent twice if it arrives in one write with the usage and [DONE]', async () => {
    const caller = await rig.caller()
    rig.upstream.next(
      fake.behaviour('everything at once', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        const event = { choices: [{ index: 0, delta: { content: 'ü'.repeat(500_000) }, finish_reason: 'stop' }] }
        const all = `data: ${JSON.stringify(event)}\n\ndata: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`
        await exchange.write(all)
        exchange.end()
      }),
    )
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    expect(textOf(seen.text)).toBe('ü'.repeat(500_000))
    expect(eventsOf(seen.text)).toHaveLength(2)
    await charged(rig, caller, 35)
  })

  test('ends the stream with an error if it is not JSON, because its beginning has already been sent', async () => {
    const caller = await rig.caller()
    rig.upstream.next(
      fake.behaviour('a damaged long event', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write('data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n')
        await exchange.write(`data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(600_000)}\n\n`)
        await exchange.write('data: {"choices":[{"index":0,"delta":{"content":"world"}}]}\n\ndata: [DONE]\n\n')
        exchange.end()
      }),
    )
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    expectErrorEvent(seen, 'upstream_stream_error')
    expect(seen.text).not.toContain('world')
  })

  test('is ended with a blank line before the error event if the stream breaks off inside it', async () => {
    const caller = await rig.caller()
    rig.upstream.next(
      fake.behaviour('half of a long event', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write('data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n')
        await exchange.write(`data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(600_000)}`)
        exchange.end()
      }),
    )
    const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
    expectErrorEvent(seen, 'upstream_stream_incomplete')
    expect(eventsOf(seen.text)).toHaveLength(3)
  })
})
