// Responses with status 200 that contain no answer, for every kind of call: they are reported as failures of the
// upstream and cost nothing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, constants } from 'node:zlib'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chat, chatStream, expectError, expectErrorEvent, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({
    channels: false,
    settings: {
      ModelRatio: '{"m":1,"text-embedding-3-small":1,"omni-moderation-latest":1,"painter":3,"tts-1":1,"whisper-1":1}',
      FirstByteTimeout: '3',
      KeepAliveInterval: '0.3',
    },
  })
  await rig.channel({ models: 'm,text-embedding-3-small,omni-moderation-latest,painter,tts-1,whisper-1' })
})
afterAll(() => rig[Symbol.asyncDispose]())

const upload = (fields: Record<string, string>) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new File([new Uint8Array(2000)], 'a.mp3'))
  return form
}

/** A call of each kind that expects one complete response. */
const kinds: readonly (readonly [name: string, path: string, body: () => object])[] = [
  ['chat', '/v1/chat/completions', () => chat],
  ['a completion', '/v1/completions', () => ({ model: 'm', prompt: 'hi' })],
  ['embeddings', '/v1/embeddings', () => ({ model: 'text-embedding-3-small', input: 'hi' })],
  ['a moderation', '/v1/moderations', () => ({ model: 'omni-moderation-latest', input: 'hi' })],
  ['images', '/v1/images/generations', () => ({ model: 'painter', prompt: 'a bridge' })],
  ['an edited image', '/v1/images/edits', () => upload({ model: 'painter', prompt: 'a bridge' })],
  ['an image variation', '/v1/images/variations', () => upload({ model: 'painter' })],
  ['a transcript', '/v1/audio/transcriptions', () => upload({ model: 'whisper-1' })],
  [
    'a plain-text transcript',
    '/v1/audio/transcriptions',
    () => upload({ model: 'whisper-1', response_format: 'text' }),
  ],
  ['a translation', '/v1/audio/translations', () => upload({ model: 'whisper-1' })],
  ['speech', '/v1/audio/speech', () => ({ model: 'tts-1', input: 'hi', voice: 'alloy' })],
]

function call(path: string, body: object, token: string) {
  const isForm = body instanceof FormData
  const headers = { authorization: `Bearer ${token}`, ...(!isForm && { 'content-type': 'application/json' }) }
  return see(fetch(rig.gateway.url + path, { method: 'POST', headers, body: isForm ? body : JSON.stringify(body) }))
}

/** Responds with exactly this text. */
const says = (name: string, type: string, text: string, status = 200) =>
  fake.behaviour(name, async (exchange) => {
    exchange.head(status, [['content-type', type]])
    if (text !== '') await exchange.write(text)
    exchange.end()
  })

const events = [
  { choices: [{ index: 0, delta: { content: 'Hello' } }] },
  { choices: [{ delta: {}, finish_reason: 'stop' }] },
]
const stream = `${events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`

const noAnswers: readonly (readonly [behaviour: fake.Behaviour, status: number, code: string | null])[] = [
  [fake.status(500), 500, null],
  [fake.status(429), 429, 'rate_limit_exceeded'],
  [fake.resetsBeforeHeaders(), 502, 'do_request_failed'],
  [fake.closesWithoutAnswer(), 502, 'do_request_failed'],
  [fake.neverAnswers(), 504, 'upstream_timeout'],
  [fake.html200(), 502, 'bad_response_body'],
  [says('events that nobody asked for', 'text/event-stream', stream), 502, 'bad_response_body'],
  [says('no content', 'text/plain', '', 204), 502, 'bad_response_body'],
]

for (const [name, path, body] of kinds)
  describe(`${name}:`, () => {
    test.each(noAnswers.map(([behaviour, ...told]) => [behaviour.name, behaviour, ...told] as const))(
      '%s',
      async (_, behaviour, status, code) => {
        const caller = await rig.caller()
        rig.upstream.next(behaviour)
        expectError(await call(path, body(), caller.token), status, code)
        expect(await charged(rig, caller, 0)).toEqual([])
        await rig.upstream.until(({ openStreams }) => openStreams === 0)
      },
    )
  })

test.each(kinds.filter(([name]) => !/transcript|translation|speech/.test(name)))(
  '%s: an object without an answer is a failure of the upstream',
  async (_, path, body) => {
    const caller = await rig.caller()
    rig.upstream.next(says('an object', 'application/json', '{"hello":1}'))
    expectError(await call(path, body(), caller.token), 502, 'bad_response_body')
    expect(await charged(rig, caller, 0)).toEqual([])
  },
)

test('chat without choices is a failure, unless it reports usage, which is charged', async () => {
  const caller = await rig.caller()
  rig.upstream.next(says('no choices', 'application/json', '{"choices":[]}'))
  expectError(await call('/v1/chat/completions', chat, caller.token), 502, 'bad_response_body')
  expect(await charged(rig, caller, 0)).toEqual([])
  const filtered = { choices: [], usage: { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 } }
  rig.upstream.next(says('no choices but usage', 'application/json', JSON.stringify(filtered)))
  expect((await call('/v1/chat/completions', chat, caller.token)).status).toBe(200)
  await charged(rig, caller, 10)
})

describe('a stream that ends before it has sent any content does not count as an answer:', () => {
  const empty = says('an end mark alone', 'text/event-stream', 'data: [DONE]\n\n')
  const images = { model: 'painter', prompt: 'a bridge', stream: true }
  const speech = { model: 'tts-1', input: 'hi', voice: 'alloy', stream_format: 'sse' }

  test.each([
    ['chat', '/v1/chat/completions', chatStream],
    ['images', '/v1/images/generations', images],
    ['speech', '/v1/audio/speech', speech],
  ])('%s', async (_, path, body) => {
    const caller = await rig.caller()
    rig.upstream.next(empty)
    expectError(await call(path, body, caller.token), 502, 'bad_response_body')
    expect(await charged(rig, caller, 0)).toEqual([])
  })

  test('after keep-alives, so that the error is sent as an event', async () => {
    const caller = await rig.caller()
    const { promise: isWaiting, resolve: waits } = Promise.withResolvers<void>()
    rig.upstream.next(
      fake.behaviour('an end mark, late', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await isWaiting
        await exchange.write('data: [DONE]\n\n')
        exchange.end()
      }),
    )
    const answer = await rig.gateway.post('/v1/chat/completions', chatStream, caller.token)
    waits()
    expectErrorEvent(await see(answer), 'upstream_stream_incomplete')
    expect(await charged(rig, caller, 0)).toMatchObject([{ outcome: 'interrupted', completion_tokens: 0 }])
  })

  test('an image that arrived only as a draft is not charged; if the format is unknown, the requested number of images is charged', async () => {
    const caller = await rig.caller()
    const sketch = { type: 'image_generation.partial_image', partial_image_index: 0, b64_json: 'AAAA' }
    rig.upstream.next(says('a sketch', 'text/event-stream', `data: ${JSON.stringify(sketch)}\n\ndata: [DONE]\n\n`))
    expect((await call('/v1/images/generations', images, caller.token)).status).toBe(200)
    await charged(rig, caller, 0)
    const unheard = { output: ['AAAA'] }
    rig.upstream.next(says('a form', 'text/event-stream', `data: ${JSON.stringify(unheard)}\n\ndata: [DONE]\n\n`))
    expect((await call('/v1/images/generations', images, caller.token)).status).toBe(200)
    await charged(rig, caller, 3000)
  })
})

test('an answer that is compressed although the request did not allow it is refused if it exceeds the limits when decompressed', async () => {
  const caller = await rig.caller()
  const text = `{"choices":[{"message":{"content":"${'a'.repeat(300_000_000)}"}}]}`
  const compressed = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
  rig.upstream.next(
    fake.behaviour('compressed', async (exchange) => {
      exchange.head(200, [
        ['content-type', 'application/json'],
        ['content-encoding', 'br'],
        ['content-length', String(compressed.length)],
      ])
      await exchange.write(compressed)
      exchange.end()
    }),
  )
  expectError(await call('/v1/chat/completions', chat, caller.token), 502, 'bad_response_body')
  expect(await charged(rig, caller, 0)).toEqual([])
})

test('a transcript in another text format, and a stream requested with stream=True in a form, count as answers', async () => {
  const lines = says('lines', 'text/plain', '[00:00.00] Hello')
  const caller = await rig.caller()
  rig.upstream.next(lines)
  const form = upload({ model: 'whisper-1', response_format: 'lrc' })
  const seen = await call('/v1/audio/transcriptions', form, caller.token)
  expect([seen.status, seen.text]).toEqual([200, '[00:00.00] Hello'])
  const done = { type: 'transcript.text.done', text: 'Hello' }
  rig.upstream.next(says('events', 'text/event-stream', `data: ${JSON.stringify(done)}\n\n`))
  const streamed = await call('/v1/audio/transcriptions', upload({ model: 'whisper-1', stream: 'True' }), caller.token)
  expect([streamed.status, streamed.text]).toEqual([200, `data: ${JSON.stringify(done)}\n\n`])
})

test('a Retry-After with an absurdly long pause is not passed on', async () => {
  const caller = await rig.caller()
  rig.upstream.next(fake.status(503, { retryAfter: '1e300' }))
  const seen = await call('/v1/chat/completions', chat, caller.token)
  expectError(seen, 503, null)
  expect(seen.headers.get('retry-after')).toBeNull()
})
