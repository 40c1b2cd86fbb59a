// Services that use OpenAI's dialect at their own URLs: the path to which each kind of call is sent, and the key.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { presets } from '../../server/providers/openai-compatible/presets.ts'
import { okChat } from '../helpers/fake-upstream.ts'
import { type Rig, startRelayRig } from '../relay/setup.ts'
import { answers, askChat, lastBody } from './services.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '0' }))

/**
 * The channel type, the path of the service's base URL, and the service's path for chat. `more` is another kind of
 * call: the path that the caller uses, and the path at the service.
 */
const places: [type: number, base: string, chat: string, more?: [path: string, place: string]][] = [
  [22, '/api/openapi', '/api/openapi/v1/chat/completions'],
  [25, '', '/v1/chat/completions', ['/v1/messages', '/anthropic/v1/messages']],
  [26, '', '/v1/chat/completions', ['/v1/embeddings', '/v1/embeddings']],
  [27, '', '/v1/text/chatcompletion_v2'],
  [28, '', '/v1/chat/completions', ['/v1/embeddings', '/v1/embeddings']],
  [29, '/openai', '/openai/v1/chat/completions', ['/v1/responses', '/openai/v1/responses']],
  [31, '', '/v1/chat/completions'],
  [32, '', '/v1/chat/completions', ['/v1/images/generations', '/v1/images/generations']],
  [36, '', '/v1/chat/completions', ['/v1/messages', '/anthropic/v1/messages']],
  [39, '', '/v1/chat/completions', ['/v1/rerank', '/v1/rerank']],
  [40, '', '/api/v3/chat/completions', ['/v1/embeddings', '/api/v3/embeddings']],
  [41, '/v3/openai', '/v3/openai/chat/completions', ['/v1/embeddings', '/v3/openai/embeddings']],
  [44, '', '/v1/chat/completions', ['/v1/rerank', '/v1/rerank']],
  [45, '', '/v1/chat/completions', ['/v1/responses', '/v1/responses']],
  [47, '', '/v2/chat/completions', ['/v1/embeddings', '/v2/embeddings']],
  [48, '', '/v1/chat/completions'],
  [49, '', '/compatible-mode/v1/chat/completions', ['/v1/embeddings', '/compatible-mode/v1/embeddings']],
  [50, '/some/v7', '/some/v7/chat/completions', ['/v1/embeddings', '/some/v7/embeddings']],
  [51, '/v1beta/openai', '/v1beta/openai/chat/completions', ['/v1/embeddings', '/v1beta/openai/embeddings']],
  [54, '/inference', '/inference/v1/chat/completions', ['/v1/embeddings', '/inference/v1/embeddings']],
  [55, '', '/v1/chat/completions', ['/v1/embeddings', '/v1/embeddings']],
  [56, '', '/v1/chat/completions', ['/v1/completions', '/v1/completions']],
  [57, '', '/v1/openai/chat/completions', ['/v1/embeddings', '/v1/openai/embeddings']],
  [58, '', '/chat/completions'],
  [59, '', '/v1/chat/completions', ['/v1/responses', '/v1/responses']],
  [60, '', '/v1/chat/completions', ['/v1/embeddings', '/v1/embeddings']],
]

const bodies: Record<string, object> = {
  '/v1/embeddings': { input: 'Hi' },
  '/v1/completions': { prompt: 'Hi' },
  '/v1/responses': { input: 'Hi' },
  '/v1/rerank': { query: 'Hi', documents: ['a'] },
  '/v1/images/generations': { prompt: 'a cat' },
  '/v1/messages': { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
}

test('every preset is listed in this table', () => {
  expect(places.map(([type]) => type).sort()).toEqual(presets.map(({ meta }) => meta.type).sort())
})

describe.each(places)('type %d', (type, base, chat, more) => {
  const channel = (suffix: string) => rig.channel({ type, key: 'secret-key', base_url: rig.upstream.url + suffix })
  const paths = () => rig.upstream.requests.map(({ path }) => path)

  test('is called at its own paths with its key', async () => {
    await channel(base)
    rig.upstream.next(okChat())
    expect(await askChat(rig, { model: 'm', messages: [{ role: 'user', content: 'Hi' }] })).toMatchObject({
      status: 200,
      text: expect.stringContaining('fake upstream'),
    })
    expect(paths()).toEqual([chat])
    expect(rig.upstream.requests[0]?.headers.get('authorization')).toBe('Bearer secret-key')
    if (!more) return
    rig.upstream.clear()
    await (await rig.gateway.post(more[0], { model: 'm', ...bodies[more[0]] })).text()
    expect(paths()[0]).toBe(more[1])
  })

  test('has models, a key hint and a base URL in the catalogue', () => {
    const meta = presets.find((provider) => provider.meta.type === type)?.meta
    expect(meta?.models.length).toBeGreaterThan(0)
    expect(meta?.keyHint).not.toBe('')
    if (type !== 50) expect(new URL(meta?.defaultBaseUrl ?? '').pathname.replace(/\/$/, '')).toBe(base)
  })
})

test('a base URL that already ends with the prefix does not get it a second time', async () => {
  for (const [type, base] of [
    [40, '/api/v3'],
    [47, '/v2'],
    [49, '/compatible-mode/v1'],
    [57, '/v1/openai'],
    [36, '/v1'],
  ] as const) {
    await rig.clear()
    await rig.channel({ type, key: 'k', base_url: rig.upstream.url + base })
    await askChat(rig, { model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
    expect({ type, path: rig.upstream.requests[0]?.path }).toEqual({ type, path: `${base}/chat/completions` })
  }
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
  await (await rig.gateway.post('/v1/messages', body)).text()
  expect(rig.upstream.requests[1]?.path).toBe('/anthropic/v1/messages')
})

test('requests to Mistral do not ask for usage, because Mistral reports usage in every stream', async () => {
  await rig.channel({ type: 28, key: 'k' })
  await askChat(rig, { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] })
  expect(lastBody(rig)).not.toHaveProperty('stream_options')
  await rig.clear()
  await rig.channel({ type: 29, key: 'k' })
  await askChat(rig, { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] })
  expect(lastBody(rig)).toMatchObject({ stream_options: { include_usage: true } })
})

test('the reasoning of DeepSeek’s models is sent back to DeepSeek in the next request, also for callers of the Messages API', async () => {
  await rig.channel({ type: 36, key: 'k' })
  const missing = answers({ detail: 'Not Found' }, 404)
  rig.upstream.script(({ path }) => (path.startsWith('/anthropic') ? missing : undefined))
  const messages = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: '' },
        { type: 'text', text: 'Hello' },
      ],
    },
    { role: 'user', content: 'And?' },
  ]
  const response = await rig.gateway.post('/v1/messages', { model: 'm', max_tokens: 9, messages })
  expect(response.status).toBe(200)
  expect(lastBody(rig)['messages']).toMatchObject([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello', reasoning_content: 'Hm' },
    { role: 'user', content: 'And?' },
  ])
})
