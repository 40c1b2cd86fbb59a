// Baidu ERNIE: a token is fetched for the key, user and assistant turns must alternate, and errors have status 200.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { chargedUnits, type Rig, startRelayRig } from '../relay/setup.ts'
import { answers, askChat, lastBody, streams, tokensOf, twoCalls, weather } from './services.ts'
import { toldToAdmin } from './told-to-admin.ts'

let rig: Rig
let tokens: object[] = []

beforeAll(async () => {
  const models = '{"ERNIE-4.0-8K":1,"Embedding-V1":1}'
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: models, CompletionRatio: models } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(async () => {
  await rig.clear({ RetryTimes: '0' })
  // Each test has its own key, so that no test uses another test's token.
  key = `ak${++keys}|sk`
  await rig.channel({ type: 15, key, models: 'ERNIE-4.0-8K,Embedding-V1' })
  tokens = [{ access_token: 'token-1', expires_in: 2_592_000 }]
  rig.upstream.script(({ path }) => (path === '/oauth/2.0/token' ? answers(tokens[0] ?? {}) : undefined))
})
let keys = 0
let key = ''

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const hello = { id: 'as-1', created: 1_710_000_000, result: 'Hello', finish_reason: 'normal', usage }
const ask = (fields: object = {}, token?: string) =>
  askChat(rig, { model: 'ERNIE-4.0-8K', messages: [{ role: 'user', content: 'Hi' }], ...fields }, token)
const chats = () => rig.upstream.requests.filter(({ path }) => path !== '/oauth/2.0/token')

test('the key is exchanged for a token once, and every call sends the token', async () => {
  rig.upstream.always(answers(hello))
  expect(await ask()).toMatchObject({ status: 200, text: 'Hello', reason: 'stop' })
  await ask()
  const [exchange] = rig.upstream.requests
  expect(exchange?.method).toBe('POST')
  expect(Object.fromEntries(exchange?.query ?? [])).toEqual({
    grant_type: 'client_credentials',
    client_id: key.split('|')[0] ?? '',
    client_secret: 'sk',
  })
  expect(chats().map(({ target }) => target)).toEqual([
    '/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/completions_pro?access_token=token-1',
    '/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/completions_pro?access_token=token-1',
  ])
})

test('concurrent calls share one exchange', async () => {
  rig.upstream.always(answers(hello))
  await Promise.all([ask(), ask(), ask()])
  expect(rig.upstream.requests.filter(({ path }) => path === '/oauth/2.0/token')).toHaveLength(1)
})

for (const [code, stream] of [
  [110, false],
  [111, true],
] as const) {
  test(`a cached token that the service revokes (${code}) is replaced without callers noticing`, async () => {
    const caller = await rig.caller()
    const said = { result: 'Hello', is_end: true, usage }
    rig.upstream.always(stream ? streams(said) : answers(said))
    expect((await ask({ stream }, caller.token)).status).toBe(200)
    tokens = [{ access_token: 'token-2', expires_in: 2_592_000 }]
    rig.upstream.script(({ path, target }) => {
      if (path === '/oauth/2.0/token') return answers(tokens[0] ?? {})
      return target.endsWith('access_token=token-1')
        ? answers({ error_code: code, error_msg: 'Access token invalid or no longer valid' })
        : undefined
    })
    await rig.gateway.setOption('AutomaticDisableChannelEnabled', 'true')
    const got = await ask({ stream }, caller.token)
    await rig.gateway.setOption('AutomaticDisableChannelEnabled', 'false')
    expect([got.status, got.error]).toEqual([200, undefined])
    expect(chats().map(({ target }) => target.slice(-7))).toEqual(['token-1', 'token-1', 'token-2'])
    const { status } = await rig.gateway.context.store.read
      .selectFrom('channels')
      .select('status')
      .executeTakeFirstOrThrow()
    expect(status).toBe(1)
  })
}

test('if a newly issued token is refused, the call ends, because another token would be refused too', async () => {
  rig.upstream.script(({ path }) =>
    path === '/oauth/2.0/token'
      ? answers(tokens[0] ?? {})
      : answers({ error_code: 110, error_msg: 'Access token invalid or no longer valid' }),
  )
  expect((await ask()).status).toBe(503)
  expect(chats()).toHaveLength(1)
})

test('a key that the token service refuses is reported to admins and costs nothing', async () => {
  tokens = [{ error: 'invalid_client', error_description: 'unknown client id' }]
  const caller = await rig.caller()
  const got = await ask({}, caller.token)
  expect(got).toMatchObject({ status: 503, error: { code: 'upstream_unavailable' } })
  expect(await toldToAdmin(rig.gateway)).toContain('unknown client id')
  expect(chats()).toEqual([])
  expect((await chargedUnits(rig, caller)).units).toBe(0)
})

test('a status 401 from the token service means that the key is refused', async () => {
  rig.upstream.script(() => answers({ error: 'invalid_client' }, 401))
  const got = await ask()
  expect(got.status).toBe(503)
  expect(await toldToAdmin(rig.gateway)).toContain("Baidu's token service rejected the key")
})

test('the caller’s request is sent with all its content in ERNIE’s format', async () => {
  rig.upstream.always(answers(hello))
  const got = await ask({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'One' },
      { role: 'user', content: 'Two' },
    ],
    temperature: 0,
    frequency_penalty: 1,
    max_tokens: 1,
    stop: 'END',
    seed: 7,
    user: 'me',
    disable_search: true,
  })
  expect(got.dropped).toBe('seed')
  expect(lastBody(rig)).toEqual({
    messages: [{ role: 'user', content: 'One\n\nTwo' }],
    system: 'Be brief.',
    stream: false,
    temperature: 0.01,
    penalty_score: 1.5,
    max_output_tokens: 2,
    stop: ['END'],
    user_id: 'me',
    disable_search: true,
  })
})

test('parallel tool calls become consecutive calls, with their results', async () => {
  const called = { name: 'weather', arguments: '{"place":"Bern"}', thoughts: 'I must look.' }
  rig.upstream.always(answers({ ...hello, result: '', finish_reason: 'function_call', function_call: called }))
  const got = await ask({ messages: twoCalls, tools: [weather] })
  expect(got).toMatchObject({ reason: 'tool_calls', thought: 'I must look.' })
  expect(got.calls).toMatchObject([{ name: 'weather', input: '{"place":"Bern"}' }])
  const { messages, functions, system } = lastBody(rig)
  expect({ system, functions }).toEqual({ system: 'Be brief.', functions: [weather.function] })
  const call = (place: string) => ({ name: 'weather', arguments: `{"place":"${place}"}` })
  expect(messages).toEqual([
    { role: 'user', content: 'Weather in Rome and Oslo?' },
    { role: 'assistant', content: '', function_call: call('Rome') },
    { role: 'function', name: 'weather', content: 'sunny' },
    { role: 'assistant', content: '', function_call: call('Oslo') },
    { role: 'function', name: 'weather', content: 'snow' },
  ])
})

test('a tool result is sent even if the conversation does not contain its call', async () => {
  rig.upstream.always(answers(hello))
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'tool', tool_call_id: 'x', content: 'sunny' },
  ]
  await ask({ messages })
  expect(lastBody(rig)['messages']).toEqual([{ role: 'user', content: 'Hi\n\nAnswer of x: sunny' }])
})

test('a stream ends with its last event, and is charged by the total in it', async () => {
  const event = (result: string, is_end: boolean, completion: number, total: number) => ({
    id: 'as-2',
    result,
    is_end,
    finish_reason: 'normal',
    usage: { prompt_tokens: 10, completion_tokens: completion, total_tokens: total },
  })
  rig.upstream.always(streams(event('Good ', false, 2, 12), event('day', false, 3, 15), event('', true, 5, 15)))
  const caller = await rig.caller()
  const got = await ask({ stream: true, stream_options: { include_usage: true } }, caller.token)
  expect(got).toMatchObject({ status: 200, text: 'Good day', reason: 'stop', ended: true })
  expect(tokensOf(got.usage)).toEqual({ prompt: 10, completion: 5 })
  expect((await chargedUnits(rig, caller)).units).toBe(15)
})

test('a stream without its last event is reported as broken off', async () => {
  rig.upstream.always(streams({ id: 'as-3', result: 'Half', is_end: false, finish_reason: 'normal' }))
  const got = await ask({ stream: true })
  expect(got).toMatchObject({ status: 200, text: 'Half', ended: false })
  expect(got.error?.code).toBe('upstream_stream_incomplete')
})

test('errors with status 200 get the status that matches their meaning', async () => {
  const cases = [
    [336_003, 400],
    [111, 503],
    [18, 429],
    [336_100, 503],
    [6, 503],
    [1, 500],
  ] as const
  for (const [error_code, status] of cases) {
    for (const stream of [false, true]) {
      rig.upstream.always(answers({ error_code, error_msg: `said ${error_code}` }))
      const got = await ask({ stream })
      expect({ error_code, stream, status: got.status }).toEqual({ error_code, stream, status })
      if (error_code !== 111 && error_code !== 6) expect(got.error?.message).toContain(`said ${error_code}`)
    }
  }
})

test('a conversation that the service considers unsafe ends with a content filter reason', async () => {
  rig.upstream.always(answers({ ...hello, result: '…', need_clear_history: true, flag: 1 }))
  expect(await ask()).toMatchObject({ reason: 'content_filter' })
})

test('images, and a request to continue an answer, are refused before anything is sent', async () => {
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  const seen = await ask({ messages: [{ role: 'user', content: [image] }] })
  expect(seen.status).toBe(400)
  expect(seen.error?.message).toContain('images')
  const open = await ask({
    messages: [
      { role: 'user', content: 'Say' },
      { role: 'assistant', content: 'It is' },
    ],
  })
  expect(open.status).toBe(400)
  expect(rig.upstream.requests).toEqual([])
})

test('embeddings are sent to the path of their model, as a list', async () => {
  const data = [{ object: 'embedding', embedding: [0.5, -0.25], index: 0 }]
  rig.upstream.always(answers({ object: 'embedding_list', data, usage: { prompt_tokens: 4, total_tokens: 4 } }))
  const caller = await rig.caller()
  const response = await rig.gateway.post('/v1/embeddings', { model: 'Embedding-V1', input: 'Hi' }, caller.token)
  const body = (await response.json()) as { data: { embedding: number[] }[] }
  expect(body.data[0]?.embedding).toEqual([0.5, -0.25])
  expect(chats()[0]?.path).toBe('/rpc/2.0/ai_custom/v1/wenxinworkshop/embeddings/embedding-v1')
  expect(lastBody(rig)['input']).toEqual(['Hi'])
  expect((await chargedUnits(rig, caller)).units).toBe(4)
  rig.upstream.always(answers({ error_code: 336_003, error_msg: 'too many inputs' }))
  const failed = await rig.gateway.post('/v1/embeddings', { model: 'Embedding-V1', input: 'Hi' }, caller.token)
  expect(failed.status).toBe(400)
})

test('a key of the newer kind is sent as a bearer token to the newer endpoint, in OpenAI’s format', async () => {
  await rig.clear()
  await rig.channel({ type: 15, key: 'bce-v3/ALTAK-a/b', models: 'ERNIE-4.0-8K' })
  expect((await ask()).status).toBe(200)
  const [request] = rig.upstream.requests
  expect(request?.path).toBe('/v2/chat/completions')
  expect(request?.headers.get('authorization')).toBe('Bearer bce-v3/ALTAK-a/b')
  expect(lastBody(rig)).toMatchObject({ model: 'ERNIE-4.0-8K' })
})
