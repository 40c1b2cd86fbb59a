// Services with a small native format: PaLM 2, AI Proxy's knowledge bases, Spark's HTTP API, MiniMax.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chargedUnits, type Rig, startRelayRig } from '../relay/setup.ts'
import { answers, askChat, lastBody, streams, tokensOf } from './services.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: '{"m":1,"x1":1}' } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '0' }))

const ask = (fields: object = {}, token?: string) =>
  askChat(rig, { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }, token)
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

describe('PaLM 2', () => {
  beforeEach(() => rig.channel({ type: 11, key: 'palm-key' }))

  test('is called with authors and a context, and max_tokens is not sent as topK', async () => {
    rig.upstream.always(answers({ candidates: [{ author: '1', content: 'Good day' }] }))
    const got = await ask({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
        { role: 'user', content: 'And?' },
      ],
      temperature: 1.5,
      top_p: 0.5,
      max_tokens: 9,
    })
    expect(got).toMatchObject({ status: 200, text: 'Good day', reason: 'stop', dropped: 'temperature, max_tokens' })
    const [request] = rig.upstream.requests
    expect(request?.target).toBe('/v1beta2/models/chat-bison-001:generateMessage')
    expect(request?.headers.get('x-goog-api-key')).toBe('palm-key')
    expect(lastBody(rig)).toEqual({
      prompt: {
        context: 'Be brief.',
        messages: [
          { author: '0', content: 'Hi' },
          { author: '1', content: 'Hello' },
          { author: '0', content: 'And?' },
        ],
      },
      temperature: 1,
      topP: 0.5,
    })
  })

  test('supports neither streams nor usage reports, so the gateway creates the stream and counts the tokens', async () => {
    rig.upstream.always(answers({ candidates: [{ author: '1', content: 'Good day' }] }))
    const caller = await rig.caller()
    const got = await ask({ stream: true, stream_options: { include_usage: true } }, caller.token)
    expect(got).toMatchObject({ text: 'Good day', reason: 'stop', ended: true })
    const { units, rows } = await chargedUnits(rig, caller)
    expect(rows[0]?.completion_tokens).toBeGreaterThan(0)
    expect(units).toBe((rows[0]?.prompt_tokens ?? 0) + (rows[0]?.completion_tokens ?? 0))
  })

  test('reports errors, and answers that its filters blocked', async () => {
    rig.upstream.always(answers({ filters: [{ reason: 'SAFETY' }] }))
    expect(await ask()).toMatchObject({ status: 200, reason: 'content_filter' })
    rig.upstream.always(answers({}))
    expect((await ask()).status).toBe(500)
    const details = [{ reason: 'API_KEY_INVALID' }]
    const error = { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT', details }
    rig.upstream.always(answers({ error }, 400))
    expect((await ask()).error?.code).toBe('upstream_unavailable')
  })
})

describe("AI Proxy's knowledge bases", () => {
  test('get the last question, and cite their documents', async () => {
    await rig.channel({ type: 21, key: 'k', config: '{"library_id":"lib-1"}' })
    const documents = [{ title: 'Manual', url: 'https://example.com/manual' }]
    rig.upstream.always(answers({ success: true, answer: 'So.', documents, errCode: 0 }))
    const caller = await rig.caller()
    const got = await ask({}, caller.token)
    expect(got).toMatchObject({ text: 'So.', reason: 'stop', citations: ['https://example.com/manual'] })
    expect(rig.upstream.requests[0]?.path).toBe('/api/library/ask')
    expect(lastBody(rig)).toEqual({ model: 'm', query: 'Hi', stream: false, libraryId: 'lib-1' })
    expect((await chargedUnits(rig, caller)).units).toBeGreaterThan(0)
    rig.upstream.always(streams({ content: 'So', finish: false }, { content: '.', finish: true, documents }))
    expect(await ask({ stream: true })).toMatchObject({
      text: 'So.',
      ended: true,
      citations: [documents[0]?.url ?? ''],
    })
    rig.upstream.always(answers({ success: false, errCode: 12, message: 'no such library' }))
    const failed = await ask()
    expect(failed.status).toBe(500)
    expect(failed.error?.message).toContain('no such library')
  })

  test('must be named in the channel’s configuration', async () => {
    await rig.channel({ type: 21, key: 'k' })
    expect((await ask()).error?.message).toContain('has no knowledge base')
    expect(rig.upstream.requests).toEqual([])
  })
})

describe("Spark's HTTP API", () => {
  beforeEach(() => rig.channel({ type: 48, key: 'password', models: 'm,x1' }))

  test('gets a finish reason added to its streams, which have none', async () => {
    const chunk = (content: string, rest: object = {}) =>
      `data:${JSON.stringify({ code: 0, message: 'Success', sid: 's', choices: [{ delta: { content }, index: 0 }], ...rest })}\n\n`
    rig.upstream.always(streams(chunk('Good '), chunk('day', { usage }), 'data:[DONE]\n\n'))
    const got = await ask({ stream: true, stream_options: { include_usage: true } })
    expect(got).toMatchObject({ text: 'Good day', reason: 'stop', ended: true })
    expect(tokensOf(got.usage)).toEqual({ prompt: 10, completion: 5 })
  })

  test('sends errors with status 200 in three formats', async () => {
    for (const [body, status] of [
      [{ error: { code: 10_010, message: 'Engine Busy' } }, 503],
      [{ code: 11_210, msg: 'insufficient credits', Sid: 's' }, 503],
      [{ code: 11_200, message: 'AppIdNoAuthError', sid: 's' }, 503],
    ] as const) {
      rig.upstream.always(answers(body))
      expect((await ask()).status).toBe(status)
    }
  })

  test('has another URL for models that think', async () => {
    rig.upstream.always(answers({ code: 0, choices: [{ message: { content: 'Hi' }, index: 0 }], usage }))
    for (const model of ['m', 'x1']) expect((await ask({ model })).text).toBe('Hi')
    const paths = rig.upstream.requests.map(({ path }) => path)
    expect(paths).toEqual(['/v1/chat/completions', '/v2/chat/completions'])
  })
})

test('errors of MiniMax have status 200', async () => {
  await rig.channel({ type: 27, key: 'k' })
  rig.upstream.always(answers({ choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }))
  const failed = await ask()
  expect(failed).toMatchObject({ status: 503, error: { code: 'upstream_unavailable' } })
  expect(rig.upstream.requests[0]?.path).toBe('/v1/text/chatcompletion_v2')
  rig.upstream.always(
    answers({
      choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
      usage,
      base_resp: { status_code: 0, status_msg: '' },
    }),
  )
  expect(await ask()).toMatchObject({ status: 200, text: 'Hi' })
})
