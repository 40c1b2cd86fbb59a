// Weaknesses that other gateways of this kind have in the relay: calls without a price, and callers who choose channels
// freely. Numbers in titles, such as 8.6-4, are items of table.md.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { request as httpRequest } from 'node:http'
import {
  behaviour,
  type FakeUpstream,
  okChat,
  okEmbeddings,
  startFakeUpstream,
  status,
} from '../helpers/fake-upstream.ts'
import type { TestGateway } from '../helpers/test-gateway.ts'
import { type Rig, startRelayRig } from '../relay/setup.ts'

setDefaultTimeout(120_000)

const models = 'm,gpt-4o,dall-e-2,dall-e-3,text-embedding-3-small,gpt-3.5-turbo-instruct,tts-1'
const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }

let rig: Rig
let upstream: FakeUpstream
let gate: TestGateway

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
  upstream = rig.upstream
  gate = rig.gateway
  await gate.setOption('ModelRatio', '{"m":1}')
  await rig.channel({ models })
})
afterAll(() => rig[Symbol.asyncDispose]())

/** The status and cost of a call by a new caller. */
async function costOf(
  path: string,
  body: unknown,
  quota = 1e9,
): Promise<{ status: number; cost: number; text: string }> {
  const caller = await rig.caller({ user: quota })
  const answer = await gate.post(path, body, caller.token)
  const text = await answer.text()
  const { used } = await gate.balances(caller.userId, caller.tokenId)
  return { status: answer.status, cost: used, text }
}

test('8.6-4 an image request without n costs one image, and is refused if the balance does not cover it', async () => {
  const image = { model: 'dall-e-2', prompt: 'a cat', size: '256x256' }
  const one = await costOf('/v1/images/generations', { ...image, n: 1 })
  expect(one.cost).toBeGreaterThan(0)
  expect((await costOf('/v1/images/generations', image)).cost).toBe(one.cost)
  expect((await costOf('/v1/images/generations', { ...image, n: null })).cost).toBe(one.cost)
  expect((await costOf('/v1/images/generations', { ...image, n: 3 })).cost).toBe(3 * one.cost)
  const before = upstream.requests.length
  for (const body of [image, { ...image, n: 1 }]) {
    const { status: answered, cost } = await costOf('/v1/images/generations', body, 1)
    expect([answered, cost]).toEqual([403, 0])
  }
  expect(upstream.requests.length).toBe(before)
})

test('8.6-5 array prompts, embeddings without usage and streamed tool calls without usage are charged', async () => {
  const long = 'word '.repeat(500)
  upstream.always(okChat({ text: 'a', usage: null }))
  const text = await costOf('/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: long, max_tokens: 5 })
  const list = await costOf('/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: [long, long], max_tokens: 5 })
  expect(text.cost).toBeGreaterThan(300)
  expect(list.cost).toBeGreaterThan(1.9 * text.cost)
  upstream.clear()
  upstream.always(okEmbeddings({ usage: null }))
  expect((await costOf('/v1/embeddings', { model: 'text-embedding-3-small', input: [long] })).cost).toBeGreaterThan(0)
  upstream.clear()

  const argument = JSON.stringify({ words: long })
  const calls = [
    { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: argument } },
    { index: 0, id: 'c', type: 'custom', custom: { name: 'f', input: argument } },
  ]
  const event = (fields: object) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, finish_reason: null, ...fields }] })}\n\n`
  for (const call of calls) {
    upstream.always(
      behaviour('a tool call, no usage', async (exchange) => {
        exchange.head(200, [['content-type', 'text/event-stream']])
        await exchange.write(event({ delta: { tool_calls: [call] } }))
        await exchange.write(event({ delta: {}, finish_reason: 'tool_calls' }))
        await exchange.write('data: [DONE]\n\n')
        exchange.end()
      }),
    )
    const streamed = await costOf('/v1/chat/completions', { ...chat, stream: true })
    expect(streamed.text).toContain('[DONE]')
    expect(streamed.cost).toBeGreaterThan(400)
    upstream.clear()
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    upstream.always(
      behaviour('a whole tool call, no usage', async (exchange) => {
        exchange.head(200, [['content-type', 'application/json']])
        await exchange.write(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
        exchange.end()
      }),
    )
    const whole = await costOf('/v1/chat/completions', chat)
    expect(whole.text).toContain('tool_calls')
    expect(whole.cost).toBeGreaterThan(400)
    upstream.clear()
  }
})

test('8.6-6 the hold covers max_completion_tokens and n: a call that the account cannot pay for is not sent', async () => {
  const before = upstream.requests.length
  for (const fields of [
    { max_completion_tokens: 100_000 },
    { max_tokens: 1, max_completion_tokens: 100_000 },
    { n: 100, max_tokens: 1000 },
    { n: 100, max_completion_tokens: 1000 },
  ]) {
    const { status: answered, cost } = await costOf('/v1/chat/completions', { ...chat, ...fields }, 20)
    const last = upstream.requests.length > before ? upstream.last.fields : {}
    // The call is refused, or is sent with no more output tokens than the balance covers.
    if (answered === 200) {
      const cap = Number(last['max_completion_tokens'] ?? last['max_tokens'])
      expect(cap * Number(last['n'] ?? 1)).toBeLessThanOrEqual(20)
    } else expect([answered, cost]).toEqual([403, 0])
  }
})

test('8.6-7 no path lets callers choose a channel freely: a channel of the type proxy respects groups, models and prices, and only admins may name a channel', async () => {
  const caller = await rig.caller({ user: 1e9 })
  const vip = { type: 43, base_url: upstream.url, models: chat.model, group: 'vip' }
  const others = await gate.addChannel(vip)
  const before = upstream.requests.length
  const allowed: Record<string, number> = { 'POST /v1/chat/completions': 400 }
  for (const id of [1, others])
    for (const path of ['/v1/chat/completions', '/x', '/']) {
      for (const method of ['GET', 'POST', 'PUT']) {
        const response = await fetch(`${gate.url}/v1/oneapi/proxy/${id}${path}`, {
          method,
          headers: { authorization: `Bearer ${caller.token}` },
          ...(method !== 'GET' && { body: JSON.stringify(chat) }),
        })
        // A path without a price gets 501. The chat path has a price, but it gets 400: the one channel is not of the
        // type proxy, and the other belongs to another group.
        const wanted = allowed[`${method} ${path}`] ?? 501
        expect([id, method, path, response.status]).toEqual([id, method, path, wanted])
      }
    }
  for (const suffix of ['-1', '-01', '-1-1', '-', '-0']) {
    const response = await gate.post('/v1/chat/completions', chat, `${caller.token}${suffix}`)
    expect([suffix, [401, 403].includes(response.status)]).toEqual([suffix, true])
  }
  expect(upstream.requests.length).toBe(before)
})

test('8.6-8 a caller’s bad requests do not disable a channel or open a circuit breaker', async () => {
  await gate.setOption('AutomaticDisableChannelEnabled', 'true')
  const caller = await rig.caller({ user: 1e9 })
  const repeated = ['your credit balance is too low', 'api key expired'].map((words) => `Invalid value: '${words}'.`)
  for (const message of ['your request is bad', ...repeated]) {
    upstream.always(status(400, { message, type: 'invalid_request_error' }))
    for (let bad = 0; bad < 20; bad++) {
      expect((await gate.post('/v1/chat/completions', { ...chat, temperature: 99 }, caller.token)).status).toBe(400)
    }
    upstream.clear()
  }
  expect((await gate.post('/v1/chat/completions', chat, caller.token)).status).toBe(200)
  expect(await gate.api<{ status: number }>('GET', '/api/channel/1')).toMatchObject({ status: 1 })
  await gate.setOption('AutomaticDisableChannelEnabled', 'false')
})

test('8.6-9 a malformed price table is rejected, and the current prices remain in force', async () => {
  const before = await costOf('/v1/chat/completions', chat)
  for (const key of [
    'ModelRatio',
    'CompletionRatio',
    'GroupRatio',
    'ModelPrice',
    'CacheRatio',
    'ImageRatio',
    'AudioRatio',
  ]) {
    for (const value of [
      '{',
      '[]',
      'null',
      '"x"',
      '{"m":"1"}',
      '{"m":-1}',
      '{"m":1e400}',
      '{"m":null}',
      '{"m":{}}',
      '{"m":1e9}',
      '{"m":1e-9}',
    ]) {
      const saved = await gate.setOption(key, value).then(
        () => true,
        () => false,
      )
      expect([key, value, saved]).toEqual([key, value, false])
    }
  }
  expect((await costOf('/v1/chat/completions', chat)).cost).toBe(before.cost)
})

test('8.6-14 upstream events without a space after the colon reach the caller', async () => {
  upstream.always(
    behaviour('no blank', async (exchange) => {
      exchange.head(200, [['content-type', 'text/event-stream']])
      await exchange.write('data:{"choices":[{"index":0,"delta":{"content":"with\\nout"},"finish_reason":null}]}\n\n')
      await exchange.write('data:{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata:[DONE]\n\n')
      exchange.end()
    }),
  )
  const { text, status: answered } = await costOf('/v1/chat/completions', { ...chat, stream: true })
  expect(answered).toBe(200)
  expect(text).toContain('with\\nout')
  expect(text).toContain('[DONE]')
  upstream.clear()
})

test('8.5-8 no body is read before its sender is known, or beyond the size limit', async () => {
  const { hostname, port } = new URL(gate.url)
  /** Sends the headers of a request with a huge body, and waits for the response without sending the body. */
  const askFirst = (path: string, headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const request = httpRequest(
        { hostname, port, path, method: 'POST', headers: { 'content-length': '5000000000', ...headers } },
        (response) => {
          resolve(response.statusCode ?? 0)
          request.destroy()
        },
      )
      request.on('error', reject)
      request.flushHeaders()
    })
  expect(await askFirst('/api/channel/', {})).toBe(401)
  expect(await askFirst('/api/option/test_mail', {})).toBe(401)
  expect(await askFirst('/api/user/login', {})).toBe(413)
  expect(await askFirst('/api/user/register', {})).toBe(413)
  expect(await askFirst('/v1/chat/completions', {})).toBe(401)
  expect(await askFirst('/v1/audio/transcriptions', { 'content-type': 'multipart/form-data; boundary=x' })).toBe(401)
  expect(await askFirst('/v1/chat/completions', { authorization: `Bearer ${gate.token}` })).toBe(413)
})

test('8.5-9 a model’s answer is never sent as a page, whatever content type the upstream declares', async () => {
  const says = (type: string) =>
    behaviour(type, async (exchange) => {
      exchange.head(200, [['content-type', type]])
      await exchange.write('{"choices":[{"message":{"content":"<script>alert(1)</script>"}}],"data":[],"text":"<b>"}')
      exchange.end()
    })
  for (const type of [
    'text/html',
    'text/html; charset=utf-8',
    'TEXT/HTML',
    'application/xhtml+xml',
    'image/svg+xml',
    'text/xml',
  ]) {
    upstream.always(says(type))
    for (const [path, body] of [
      ['/v1/chat/completions', chat],
      ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'x' }],
      ['/v1/images/generations', { model: 'dall-e-2', prompt: 'x' }],
      ['/v1/audio/speech', { model: 'tts-1', input: 'x', voice: 'alloy' }],
    ] as const) {
      const answer = await gate.post(path, body)
      const sent = answer.headers.get('content-type') ?? ''
      expect([path, type, /html|svg|xml/i.test(sent)]).toEqual([path, type, false])
      await answer.text()
    }
  }
  upstream.clear()
})

test('8.5-11 fields of unexpected types do not change the price: the charge is based on what the upstream receives, or the call is refused', async () => {
  const image = { model: 'dall-e-2', prompt: 'x', size: '1024x1024', n: 2 }
  const right = await costOf('/v1/images/generations', image)
  for (const fields of [
    { n: [10] },
    { n: true },
    { n: '0x0a' },
    { n: '1e1' },
    { n: 1.5 },
    { n: -1 },
    { size: ['256x256'] },
    { size: { toString: '256x256' } },
    { quality: ['hd'] },
    { N: 1 },
    { Size: '256x256', SIZE: '256x256' },
    { model: ['dall-e-2'] },
    { Model: 'dall-e-3' },
  ]) {
    const { status: answered, cost } = await costOf('/v1/images/generations', { ...image, ...fields })
    const isSame = answered === 200 && cost === right.cost
    expect([JSON.stringify(fields), isSame || (answered === 400 && cost === 0)]).toEqual([JSON.stringify(fields), true])
  }
  for (const fields of [
    { max_tokens: '5' },
    { max_tokens: [5] },
    { n: '3' },
    { Max_Tokens: 5 },
    { stream: 'true' },
    { N: 3 },
  ]) {
    const { status: answered, cost } = await costOf('/v1/chat/completions', { ...chat, ...fields })
    expect([JSON.stringify(fields), answered, cost]).toEqual([JSON.stringify(fields), 400, 0])
  }
})

test('8.6-11 a channel’s key is write-only: no response about channels contains it', async () => {
  const key = 'sk-upstream-key-that-must-not-be-seen'
  const id = await gate.addChannel({ base_url: upstream.url, models: 'm', key })
  const token = 'testgatewayaccesstoken'
  for (const [method, path, body] of [
    ['GET', `/api/channel/${id}`, undefined],
    ['GET', '/api/channel/?p=0', undefined],
    ['GET', '/api/channel/search?keyword=test', undefined],
    ['GET', `/api/channel/search?keyword=${key}`, undefined],
    ['PUT', '/api/channel/', { id, name: 'renamed' }],
    ['PUT', '/api/channel/', { id, key: `${key}-2` }],
    ['PUT', '/api/channel/', { id, status: 2 }],
    ['PUT', '/api/channel/', { id, status: 1 }],
    ['GET', `/api/channel/test/${id}`, undefined],
    ['GET', `/api/channel/update_balance/${id}`, undefined],
    ['GET', `/api/channel/${id}/keys`, undefined],
    ['POST', `/api/channel/${id}/copy`, {}],
    ['GET', '/api/audit/?size=100', undefined],
    ['GET', '/api/log/?size=100', undefined],
  ] as const) {
    const response = await fetch(gate.url + path, {
      method,
      headers: { authorization: token },
      ...(body && { body: JSON.stringify(body) }),
    })
    expect([path, (await response.text()).includes(key)]).toEqual([path, false])
  }
})

test('8.6-11 an admin cannot have a stored key sent to a URL of their choice, neither by an edit nor through a copy', async () => {
  await using thief = await startFakeUpstream()
  const key = 'sk-upstream-key-that-must-not-be-lent'
  const id = await gate.addChannel({ base_url: upstream.url, models: 'm', key })
  await gate.api('POST', '/api/user/', { username: 'curious', password: 'long enough' })
  await gate.api('POST', '/api/user/manage', { username: 'curious', action: 'promote' })
  const login = await fetch(`${gate.url}/api/user/login`, {
    method: 'POST',
    body: JSON.stringify({ username: 'curious', password: 'long enough' }),
  })
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? ''
  const call = async (method: string, path: string, body?: unknown) => {
    const init = { method, headers: { cookie }, ...(body !== undefined && { body: JSON.stringify(body) }) }
    return (await (await fetch(gate.url + path, init)).json()) as { success: boolean; data: unknown }
  }
  const copy = Number((await call('POST', `/api/channel/${id}/copy`, {})).data)
  expect(copy).toBeGreaterThan(id)
  for (const each of [id, copy]) {
    for (const edit of [
      { base_url: thief.url },
      { base_url: `${thief.url}/v1`, key: '', name: 'renamed' },
      { base_url: thief.url, type: 8 },
      { base_url: thief.url, key: 'sk-mine', key_mode: 'multi', key_append: true },
      { config: JSON.stringify({ region: `${new URL(thief.url).host}/` }) },
    ]) {
      expect([edit, (await call('PUT', '/api/channel/', { id: each, ...edit })).success]).toEqual([edit, false])
    }
    for (const path of [`test/${each}`, `update_balance/${each}`]) await call('GET', `/api/channel/${path}`)
  }
  expect(thief.requests.length).toBe(0)
  // Admins who set a new key themselves may choose the URL.
  expect((await call('PUT', '/api/channel/', { id: copy, base_url: thief.url, key: 'sk-mine' })).success).toBe(true)
  await call('GET', `/api/channel/test/${copy}`)
  expect(thief.requests.map((request) => request.key)).toEqual(['sk-mine'])
})
