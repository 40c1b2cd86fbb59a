// Upstreams from before `stream_options`, which refuse a request that has it.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { type Bench, charged, chargedUnits, chatStream, expectError, see, startBench } from './setup.ts'

const bench: Bench = await startBench()
const words = ['word0', ' word1', ' word2', ' word3', ' word4']
const textTokens = 10

beforeEach(async () => {
  await bench.clear()
  await bench.channel()
  bench.upstream.always(
    fake.behaviour('knows no stream_options', (exchange) =>
      exchange.request.fields['stream_options'] === undefined
        ? fake.okStream({ chunks: words, usage: null }).run(exchange)
        : sendJson(exchange, 400, {
            error: { message: 'Unrecognized request argument supplied: stream_options', type: 'invalid_request_error' },
          }),
    ),
  )
})
afterAll(() => bench[Symbol.asyncDispose]())

const calls: [dialect: string, path: string, body: object][] = [
  ["OpenAI's chat", '/v1/chat/completions', chatStream],
  [
    'the Gemini API',
    '/v1beta/models/m:streamGenerateContent?alt=sse',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
  ['the Messages API', '/v1/messages', { ...chatStream, max_tokens: 20 }],
]
describe('a stream is requested again without its usage, which is then counted, for callers of', () => {
  for (const [dialect, path, body] of calls) {
    test(dialect, async () => {
      const caller = await bench.caller()
      for (const asked of [2, 3]) {
        const seen = await see(bench.gateway.post(path, body, caller.token))
        expect([seen.status, seen.error]).toEqual([200, undefined])
        expect(seen.text).toContain('word4')
        // The second call knows it from the first.
        expect(bench.upstream.requests.length).toBe(asked)
      }
      const { rows } = await chargedUnits(bench, caller)
      expect(rows.length).toBe(2)
      for (const row of rows)
        expect(row).toMatchObject({ estimated: 1, outcome: 'complete', completion_tokens: textTokens })
    })
  }
})

test('a caller who asks for the usage is told that it is not available', async () => {
  const caller = await bench.caller()
  const body = { ...chatStream, stream_options: { include_usage: true } }
  const seen = await see(bench.gateway.post('/v1/chat/completions', body, caller.token))
  expectError(seen, 400, null)
  expect(seen.error?.message).toContain('stream_options')
  expect(bench.upstream.requests.length).toBe(1)
  await charged(bench, caller, 0)
})

const refuses = (message: string) =>
  fake.behaviour('refuses', (exchange) =>
    sendJson(exchange, 400, { error: { message, type: 'invalid_request_error' } }),
  )

test("an upstream that repeats the caller's words proves nothing", async () => {
  const caller = await bench.caller()
  bench.upstream.next(refuses("Invalid value: 'include_usage'. Supported values are: 'system' and 'user'."))
  const body = { ...chatStream, messages: [{ role: 'include_usage', content: 'Hi' }] }
  expectError(await see(bench.gateway.post('/v1/chat/completions', body, caller.token)), 400, null)
  expect(bench.upstream.requests.length).toBe(1)
})

test("one model's refusal does not apply to the others, and models that hide their reasoning need usage", async () => {
  const caller = await bench.caller()
  await bench.channel({ models: 'm2,o3', priority: -1 })
  const post = (model: string) =>
    see(bench.gateway.post('/v1/chat/completions', { ...chatStream, model }, caller.token))
  expect((await post('m')).status).toBe(200)
  bench.upstream.always(fake.okStream({ chunks: words }))
  await post('m2')
  expect(bench.upstream.last.fields['stream_options']).toEqual({ include_usage: true })
  bench.upstream.next(refuses('Unrecognized request argument supplied: stream_options'))
  const before = bench.upstream.requests.length
  expectError(await post('o3'), 400, null)
  expect(bench.upstream.requests.length).toBe(before + 1)
})

test('a caller who leaves has not learned of it', async () => {
  const caller = await bench.caller()
  const leave = new AbortController()
  bench.upstream.next(refuses('Unrecognized request argument supplied: stream_options'))
  bench.upstream.next(fake.neverAnswers())
  const init = { signal: leave.signal }
  const gone = bench.gateway.post('/v1/chat/completions', chatStream, caller.token, init).catch(() => undefined)
  await bench.upstream.received(2)
  leave.abort()
  await gone
  await chargedUnits(bench, caller)
  bench.upstream.next(fake.okStream({ chunks: words }))
  await see(bench.gateway.post('/v1/chat/completions', chatStream, caller.token))
  expect(bench.upstream.last.fields['stream_options']).toEqual({ include_usage: true })
})

test('an upstream that refuses the rest too is called twice, and not remembered as one without usage', async () => {
  bench.upstream.next(refuses('Unknown parameter: stream_options'))
  bench.upstream.next(refuses('Unknown parameter: messages'))
  const caller = await bench.caller()
  expectError(await see(bench.gateway.post('/v1/chat/completions', chatStream, caller.token)), 400, null)
  bench.upstream.next(fake.okStream({ chunks: words }))
  await see(bench.gateway.post('/v1/chat/completions', chatStream, caller.token))
  expect(bench.upstream.last.fields['stream_options']).toEqual({ include_usage: true })
  await charged(bench, caller, 15)
})

test('a service without the Responses API that refuses stream_options is asked in both ways, and both are remembered', async () => {
  bench.upstream.next(fake.status(404, { shape: 'text' }))
  bench.upstream.next(refuses('Unknown parameter: stream_options'))
  const caller = await bench.caller()
  const body = { model: 'm', input: 'Hi', stream: true }
  for (const asked of [3, 4]) {
    const seen = await see(bench.gateway.post('/v1/responses', body, caller.token))
    expect([seen.status, seen.error]).toEqual([200, undefined])
    expect(seen.text).toContain('word4')
    expect(bench.upstream.requests.length).toBe(asked)
  }
  expect(bench.upstream.requests.map(({ path }) => path)).toEqual([
    '/v1/responses',
    '/v1/chat/completions',
    '/v1/chat/completions',
    '/v1/chat/completions',
  ])
  const { rows } = await chargedUnits(bench, caller)
  // Newest first.
  expect(rows.map(({ attempts }) => attempts === '')).toEqual([true, false])
})

test('the other forms of a call are tried again with the next key and at the next channel', async () => {
  const caller = await bench.caller()
  await bench.gateway.setOption('RetryTimes', '1')
  await bench.channel({ priority: -1 })
  bench.upstream.next(refuses('Unknown parameter: stream_options'))
  bench.upstream.next(fake.status(500))
  const seen = await see(bench.gateway.post('/v1/chat/completions', chatStream, caller.token))
  expect([seen.status, seen.error]).toEqual([200, undefined])
  expect(bench.upstream.requests.map(({ fields }) => fields['stream_options'] !== undefined)).toEqual([
    true,
    false,
    true,
    false,
  ])
})
