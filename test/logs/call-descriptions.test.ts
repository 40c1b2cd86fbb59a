// The log row of a call contains its endpoint, dialects, parameters and client. It never contains the content of the
// call.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Log } from '../../contract/api/log.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { chat, type Rig, startRelayRig, until } from '../relay/setup.ts'

const path = '/v1/chat/completions'
const requestIdOf = (response: Response) => response.headers.get('x-oneapi-request-id') ?? ''
const agent = { headers: { 'user-agent': 'codex_cli_rs/0.42.0 (Mac OS 15.0; arm64) iTerm.app/3.5' } }
const client = 'codex_cli_rs/0.42.0'

forEachDatabaseUrl((kind, freshUrl) => {
  let rig: Rig

  beforeAll(async () => {
    const database = kind === 'postgres' ? { databaseUrl: await freshUrl() } : {}
    rig = await startRelayRig({ ...database, channels: false, env: { GLOBAL_API_RATE_LIMIT: '1000000' } })
  })
  beforeEach(async () => {
    await rig.clear({ RetryTimes: '0', LogErrorsEnabled: 'true' })
    await rig.channel()
  })
  afterAll(() => rig[Symbol.asyncDispose]())

  /** The row of a request once it is written. */
  async function rowOf(response: Response, own = false): Promise<Log | undefined> {
    const id = requestIdOf(response)
    let row: Log | undefined
    await until(async () => {
      const found = await rig.gateway.api<Log[]>('GET', `/api/log${own ? '/self' : ''}/search?keyword=${id}`)
      row = found.find(({ request_id }) => request_id === id)
      return row !== undefined
    })
    return row
  }
  const send = async (to: string, body: unknown, init: RequestInit = agent) => {
    const response = await rig.gateway.post(to, body, undefined, init)
    await response.text()
    return response
  }

  test('the row of a plain call has its endpoint, dialects, parameters and client', async () => {
    const body = { ...chat, temperature: 0.25, max_tokens: 20, reasoning_effort: 'low', tool_choice: 'auto' }
    const tools = [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }]
    const response = await send(path, { ...body, tools, response_format: { type: 'json_object' } })
    expect((await rowOf(response))?.request).toEqual({
      path,
      dialect: 'openai-chat',
      upstream_dialect: 'openai-chat',
      client,
      parameters: {
        max_tokens: 20,
        temperature: 0.25,
        reasoning_effort: 'low',
        response_format: 'json_object',
        tools: 1,
        tool_choice: 'auto',
        messages: 1,
      },
    })
  })

  test('the row of a streamed call with images in its prompt has its parameters and the number of images', async () => {
    const url = 'data:image/png;base64,iVBORw0KGgo='
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url } },
    ]
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content },
    ]
    const row = await rowOf(await send(path, { model: 'm', stream: true, top_p: 0.5, messages }))
    expect(row).toMatchObject({
      is_stream: true,
      request: { path, client, parameters: { top_p: 0.5, messages: 2, images: 1 } },
    })
  })

  test('the row of a translated call has both dialects', async () => {
    const body = { ...chat, max_tokens: 10, thinking: { type: 'disabled' } }
    expect((await rowOf(await send('/v1/messages', body)))?.request).toEqual({
      path: '/v1/messages',
      dialect: 'anthropic-messages',
      upstream_dialect: 'openai-chat',
      client,
      parameters: { max_tokens: 10, thinking: 'disabled', messages: 1 },
    })
    const gemini = {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { temperature: 1, topK: 5, responseMimeType: 'application/json' },
    }
    expect((await rowOf(await send('/v1beta/models/m:generateContent', gemini)))?.request).toMatchObject({
      path: '/v1beta/models/{model}:generateContent',
      dialect: 'gemini',
      upstream_dialect: 'openai-chat',
      parameters: { temperature: 1, top_k: 5, response_format: 'json_object', messages: 1 },
    })
  })

  test('if a service lacks the caller’s dialect, the row names the dialect that was used in its place', async () => {
    rig.upstream.next(fake.status(404, { shape: 'text' }))
    const row = await rowOf(await send('/v1/responses', { model: 'm', input: 'Hi' }))
    expect(row?.request).toMatchObject({ dialect: 'openai-responses', upstream_dialect: 'openai-chat' })
    expect(row?.request?.parameters).toEqual({ messages: 1 })
  })

  test('the row of a failed call has the same description; if the call was not sent, it has no upstream dialect', async () => {
    rig.upstream.next(fake.status(400))
    const request = { path, dialect: 'openai-chat', client, parameters: { temperature: 2, messages: 1 } }
    const refused = await send(path, { ...chat, temperature: 2 })
    expect(refused.status).toBe(400)
    expect((await rowOf(refused))?.request).toEqual({ ...request, upstream_dialect: 'openai-chat' })
    const unserved = await send(path, { ...chat, model: 'nope', temperature: 2 })
    expect((await rowOf(unserved))?.request).toEqual(request)
    const unreadable = await send(path, '{')
    expect((await rowOf(unreadable))?.request).toEqual({ path, dialect: 'openai-chat', client, parameters: {} })
    const unknown = await send('/v1/fine-tunes/of-somebody', {})
    expect((await rowOf(unknown))?.request).toEqual({ client, parameters: {} })
  })

  test('calls other than conversations have no dialect', async () => {
    const row = await rowOf(await send('/v1/embeddings', { model: 'm', input: ['a', 'b'], dimensions: 256 }))
    expect(row?.request).toEqual({ path: '/v1/embeddings', client, parameters: { inputs: 2, dimensions: 256 } })
  })

  test('the caller sees the description without the upstream’s dialect, because the dialect would reveal the type of the channel', async () => {
    const response = await send('/v1/messages', { ...chat, max_tokens: 10 })
    expect((await rowOf(response, true))?.request).toEqual({
      path: '/v1/messages',
      dialect: 'anthropic-messages',
      client,
      parameters: { max_tokens: 10, messages: 1 },
    })
  })

  test('lists do not contain the description', async () => {
    await rowOf(await send(path, chat))
    for (const list of ['/api/log/', '/api/log/self']) {
      const [row] = await rig.gateway.api<Log[]>('GET', list)
      expect(row).toHaveProperty('is_stream')
      expect(row).not.toHaveProperty('request')
    }
  })

  test('no content gets into the description, whatever the parameters and the client contain', async () => {
    const secret = 'the-word-nobody-may-read'
    const nested = { type: secret, name: secret, [secret]: { type: secret, deep: [secret] } }
    const hostile = {
      temperature: secret,
      top_p: 1e300,
      top_k: nested,
      max_tokens: 9,
      reasoning_effort: secret,
      reasoning: nested,
      thinking: { ...nested, budget_tokens: 1e15 },
      verbosity: secret.repeat(1000),
      tool_choice: { type: 'function', function: { name: secret } },
      tools: [{ type: 'function', function: { name: secret, description: secret, parameters: { type: 'object' } } }],
      response_format: { type: 'json_schema', json_schema: { name: secret, schema: { type: 'object' } } },
      service_tier: secret,
      user: secret,
      safety_identifier: secret,
      metadata: { [secret]: secret },
      seed: 12_345_678_901,
      stop: [secret],
      [secret]: secret,
    }
    const body = { model: 'm', messages: [{ role: 'user', name: secret, content: secret }], ...hostile }
    const agents = [`sk-${secret}`, `<b>${secret}</b>`, `x/1.0 (${secret})`, `${secret}${secret}/1`, `x/y ${secret}`]
    for (const userAgent of agents) {
      const response = await send(`${path}?key=${secret}`, body, { headers: { 'user-agent': userAgent } })
      await rowOf(response)
    }
    const rows = await rig.gateway.context.store.read
      .selectFrom('logs')
      .select('request')
      .orderBy('id', 'desc')
      .limit(agents.length)
      .execute()
    expect(rows).toHaveLength(agents.length)
    for (const { request } of rows) {
      expect(request).not.toContain(secret)
      expect(request?.length).toBeLessThan(300)
      expect(JSON.parse(request ?? '')).toMatchObject({
        path,
        with: { max_tokens: 9, tools: 1, tool_choice: 'function', response_format: 'json_schema', messages: 1 },
      })
    }
  })
})
