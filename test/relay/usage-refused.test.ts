// Upstreams that are older than `stream_options` and refuse requests that contain it.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chargedUnits, chatStream, expectError, type Rig, see, startRelayRig } from './setup.ts'

const rig: Rig = await startRelayRig()
const words = ['word0', ' word1', ' word2', ' word3', ' word4']
const textTokens = 10

beforeEach(async () => {
  await rig.clear()
  await rig.channel()
  rig.upstream.always(
    fake.behaviour('knows no stream_options', (exchange) =>
      exchange.request.fields['stream_options'] === undefined
        ? fake.okStream({ chunks: words, usage: null }).run(exchange)
        : sendJson(exchange, 400, {
            error: { message: 'Unrecognized request argument supplied: stream_options', type: 'invalid_request_error' },
          }),
    ),
  )
})
afterAll(() => rig[Symbol.asyncDispose]())

const calls: [dialect: string, path: string, body: object][] = [
  ["OpenAI's chat", '/v1/chat/completions', chatStream],
  [
    'the Gemini API',
    '/v1beta/models/m:streamGenerateContent?alt=sse',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
  ['the Messages API', '/v1/messages', { ...chatStream, max_tokens: 20 }],
]
describe('a stream is requested again without usage, and the gateway counts the tokens, for callers of', () => {
  for (const [dialect, path, body] of calls) {
    test(dialect, async () => {
      const caller = await rig.caller()
      for (const asked of [2, 3]) {
        const seen = await see(rig.gateway.post(path, body, caller.token))
        expect([seen.status, seen.error]).toEqual([200, undefined])
        expect(seen.text).toContain('word4')
        // The gateway remembers the refusal, so the second call needs only one attempt.
        expect(rig.upstream.requests.length).toBe(asked)
      }
      const { rows } = await chargedUnits(rig, caller)
      expect(rows.length).toBe(2)
      for (const row of rows)
        expect(row).toMatchObject({ estimated: 1, outcome: 'complete', completion_tokens: textTokens })
    })
  }
})

test('a caller who requests usage gets an error, because usage is not available', async () => {
  const caller = await rig.caller()
  const body = { ...chatStream, stream_options: { include_usage: true } }
  const seen = await see(rig.gateway.post('/v1/chat/completions', body, caller.token))
  expectError(seen, 400, null)
  expect(seen.error?.message).toContain('stream_options')
  expect(rig.upstream.requests.length).toBe(1)
  await charged(rig, caller, 0)
})

const refuses = (message: string) =>
  fake.behaviour('refuses', (exchange) =>
    sendJson(exchange, 400, { error: { message, type: 'invalid_request_error' } }),
  )

test('an upstream error that only repeats the caller’s words does not count as a refusal of stream_options', async () => {
  const caller = await rig.caller()
  rig.upstream.next(refuses("Invalid value: 'include_usage'. Supported values are: 'system' and 'user'."))
  const body = { ...chatStream, messages: [{ role: 'include_usage', content: 'Hi' }] }
  expectError(await see(rig.gateway.post('/v1/chat/completions', body, caller.token)), 400, null)
  expect(rig.upstream.requests.length).toBe(1)
})

test('the gateway remembers the refusal for one model only, and calls models that hide their reasoning only with a usage request', async () => {
  const caller = await rig.caller()
  await rig.channel({ models: 'm2,o3', priority: -1 })
  const post = (model: string) => see(rig.gateway.post('/v1/chat/completions', { ...chatStream, model }, caller.token))
  expect((await post('m')).status).toBe(200)
  rig.upstream.always(fake.okStream({ chunks: words }))
  await post('m2')
  expect(rig.upstream.last.fields['stream_options']).toEqual({ include_usage: true })
  rig.upstream.next(refuses('Unrecognized request argument supplied: stream_options'))
  const before = rig.upstream.requests.length
  expectError(await post('o3'), 400, null)
  expect(rig.upstream.requests.length).toBe(before + 1)
})

test('if the caller disconnects, the refusal is not remembered', async () => {
  const caller = await rig.caller()
  const leave = new AbortController()
  rig.upstream.next(refuses('Unrecognized request argument supplied: stream_options'))
  rig.upstream.next(fake.neverAnswers())
  const init = { signal: leave.signal }
  const gone = rig.gateway.post('/v1/chat/completions', chatStream, caller.token, init).catch(() => undefined)
  await rig.upstream.received(2)
  leave.abort()
  await gone
  await chargedUnits(rig, caller)
  rig.upstream.next(fake.okStream({ chunks: words }))
  await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
  expect(rig.upstream.last.fields['stream_options']).toEqual({ include_usage: true })
})

test('an upstream that refuses the call without stream_options too is called twice, and the refusal is not remembered', async () => {
  rig.upstream.next(refuses('Unknown parameter: stream_options'))
  rig.upstream.next(refuses('Unknown parameter: messages'))
  const caller = await rig.caller()
  expectError(await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token)), 400, null)
  rig.upstream.next(fake.okStream({ chunks: words }))
  await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
  expect(rig.upstream.last.fields['stream_options']).toEqual({ include_usage: true })
  await charged(rig, caller, 15)
})

test('if a service has no Responses API and refuses stream_options, the first call makes an attempt for each, and later calls make only the right attempt', async () => {
  rig.upstream.next(fake.status(404, { shape: 'text' }))
  rig.upstream.next(refuses('Unknown parameter: stream_options'))
  const caller = await rig.caller()
  const body = { model: 'm', input: 'Hi', stream: true }
  for (const asked of [3, 4]) {
    const seen = await see(rig.gateway.post('/v1/responses', body, caller.token))
    expect([seen.status, seen.error]).toEqual([200, undefined])
    expect(seen.text).toContain('word4')
    expect(rig.upstream.requests.length).toBe(asked)
  }
  expect(rig.upstream.requests.map(({ path }) => path)).toEqual([
    '/v1/responses',
    '/v1/chat/completions',
    '/v1/chat/completions',
    '/v1/chat/completions',
  ])
  const { rows } = await chargedUnits(rig, caller)
  // The newest row comes first.
  expect(rows.map(({ attempts }) => attempts === '')).toEqual([true, false])
})

test('on the next channel, a call is again tried first with stream_options and then without', async () => {
  const caller = await rig.caller()
  await rig.gateway.setOption('RetryTimes', '1')
  await rig.channel({ priority: -1 })
  rig.upstream.next(refuses('Unknown parameter: stream_options'))
  rig.upstream.next(fake.status(500))
  const seen = await see(rig.gateway.post('/v1/chat/completions', chatStream, caller.token))
  expect([seen.status, seen.error]).toEqual([200, undefined])
  expect(rig.upstream.requests.map(({ fields }) => fields['stream_options'] !== undefined)).toEqual([
    true,
    false,
    true,
    false,
  ])
})
