// Threads in Anthropic's Messages API: the service stores the conversation, and the caller sends only the new messages.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import type { JsonObject } from '../../server/lib/json.ts'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import { type Behaviour, behaviour, status } from '../helpers/fake-upstream.ts'
import { chargedUnits, type Rig, startRelayRig, whileHeld } from './setup.ts'

/** The context length of an unknown model, at one unit per token. */
const context = 1_048_576

let rig: Rig
let answers = 0

/**
 * A response from Anthropic with a thread id of its own. It reports a thousand prompt tokens, which are stored at
 * Anthropic.
 */
function says(content: JsonObject[], stop = 'end_turn'): Behaviour {
  return behaviour('says', (exchange) => {
    const usage = { input_tokens: 1000, output_tokens: 5 }
    const message = { id: `msg_${++answers}`, type: 'message', role: 'assistant', model: 'm', stop_sequence: null }
    if (exchange.request.fields['stream'] !== true)
      return sendJson(exchange, 200, { ...message, content, stop_reason: stop, usage })
    const events: JsonObject[] = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Sunny.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]
    exchange.head(200, [['content-type', 'text/event-stream']])
    const text = events.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    return exchange.write(text).then(() => exchange.end())
  })
}

const sunny = says([{ type: 'text', text: 'Sunny.' }])
const asks = says([{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } }], 'tool_use')

/** The same response in OpenAI's chat format. */
const chat = (message: JsonObject, reason: string) =>
  behaviour('chat', (exchange) =>
    sendJson(exchange, 200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }),
  )
const chatAsks = chat(
  {
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }],
  },
  'tool_calls',
)
const chatSunny = chat({ content: 'Sunny.' }, 'stop')

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '0' }))

const claude = (fields: object = {}) => rig.channel({ type: 14, ...fields })
const said = [{ role: 'user', content: 'Hi' }]
const ask = (thread: JsonObject, token?: string, messages: JsonObject[] = said, fields: object = {}) =>
  rig.gateway.post('/v1/messages', { model: 'm', max_tokens: 100, messages, thread, ...fields }, token)
const goOn = (id: unknown) => ({ type: 'continue', previous_message_id: id })
const idOf = async (response: Response) => ((await response.json()) as JsonObject)['id']

async function errorOf(response: Response): Promise<JsonObject> {
  const { error } = (await response.json()) as { error: JsonObject }
  return { status: response.status, type: error['type'], details: error['details'] }
}

/** Runs a tool with the SDK's own runner, and returns the final text. */
async function runTool(token = rig.gateway.token): Promise<string> {
  const client = new Anthropic({ baseURL: rig.gateway.url, apiKey: token, maxRetries: 0 })
  const runner = client.beta.messages.toolRunner({
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Weather in Bern?' }],
    tools: [
      {
        type: 'custom',
        name: 'weather',
        input_schema: { type: 'object', properties: { city: { type: 'string' } } },
        run: () => 'sunny',
        parse: (input: unknown) => input,
      },
    ],
  } as never)
  const last = await runner
  return last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

describe('a channel that does not support threads', () => {
  test('causes the error after which clients send the whole conversation', async () => {
    await rig.channel()
    for (const thread of [{ type: 'create' }, goOn('msg_1')])
      expect(await errorOf(await ask(thread))).toEqual({
        status: 400,
        type: 'invalid_request_error',
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      })
    expect(rig.upstream.requests).toEqual([])
  })

  test('is skipped if another channel supports threads', async () => {
    await rig.channel({ priority: 10 })
    await claude()
    rig.upstream.always(sunny)
    expect((await ask({ type: 'create' })).status).toBe(200)
  })

  test('is also a channel for Claude on another service, such as Bedrock', async () => {
    await rig.channel({ type: 33, key: 'api-key|us-east-1', models: 'claude-sonnet-4-5' })
    const refused = await ask({ type: 'create' }, undefined, said, { model: 'claude-sonnet-4-5' })
    expect(await errorOf(refused)).toMatchObject({ status: 400, details: { error_code: 'thread_unsupported_request' } })
  })

  test('gets the whole conversation from the SDK’s tool runner', async () => {
    await rig.channel()
    rig.upstream.next(chatAsks)
    rig.upstream.always(chatSunny)
    expect(await runTool()).toBe('Sunny.')
    const { messages } = rig.upstream.last.fields as { messages: JsonObject[] }
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  })
})

describe('a thread at Anthropic', () => {
  test('works with the SDK’s tool runner, which sends only the new messages', async () => {
    await claude()
    rig.upstream.next(asks)
    rig.upstream.always(sunny)
    expect(await runTool()).toBe('Sunny.')
    const [first, second] = rig.upstream.requests.map(({ fields }) => fields as JsonObject)
    expect(first?.['thread']).toEqual({ type: 'create' })
    expect(second).toMatchObject({ thread: { type: 'continue' }, messages: [{ role: 'user' }] })
  })

  test('continues on the channel on which it began, even if there are other channels', async () => {
    const keys = ['key-a', 'key-b', 'key-c', 'key-d']
    await claude({ key: keys[0] })
    rig.upstream.always(sunny)
    const whole = await idOf(await ask({ type: 'create' }))
    const streamed = await (await ask(goOn(whole), undefined, said, { stream: true })).text()
    for (const key of keys.slice(1)) await claude({ key, priority: 10, weight: 1000 })
    const [, id] = /"id":"(msg_\d+)"/.exec(streamed) ?? []
    const next = await idOf(await ask(goOn(id)))
    expect((await ask(goOn(next), undefined, [])).status).toBe(200)
    expect(rig.upstream.requests.map(({ headers }) => headers.get('x-api-key'))).toEqual(Array(4).fill(keys[0]))
  })

  test('keeps the system prompt of the channel on which it began', async () => {
    await claude({ system_prompt: 'Be brief.' })
    rig.upstream.always(sunny)
    const id = await idOf(await ask({ type: 'create' }))
    await ask(goOn(id))
    expect(rig.upstream.requests.map(({ fields }) => (fields as JsonObject)['system'])).toEqual([
      'Be brief.',
      undefined,
    ])
  })

  test('continues with the key with which it began', async () => {
    await claude({ key: 'key-a\nkey-b\nkey-c', key_mode: 'multi' })
    rig.upstream.always(sunny)
    let id = await idOf(await ask({ type: 'create' }))
    for (let turn = 0; turn < 4; turn++) id = await idOf(await ask(goOn(id)))
    expect(new Set(rig.upstream.requests.map(({ headers }) => headers.get('x-api-key'))).size).toBe(1)
  })

  describe('that began with one of several keys', () => {
    const many = { key: 'key-a\nkey-b\nkey-c', key_mode: 'multi' }
    const keys = () => rig.upstream.requests.map(({ headers }) => headers.get('x-api-key') ?? '')
    const lost = { status: 404, details: { error_code: 'thread_not_found' } }
    /** Begins a thread, and returns its id and the key that began it. */
    const begin = async (token?: string) => {
      const id = await idOf(await ask({ type: 'create' }, token))
      return { id, key: keys().at(-1) ?? '' }
    }

    for (const others of [0, 1])
      test(`is reported as not found if the operator has removed that key, and a new thread can be created (${others} other channels)`, async () => {
        const channel = await claude(many)
        for (let at = 0; at < others; at++) await claude({ key: 'key-z', priority: -1 })
        rig.upstream.always(sunny)
        const { id, key } = await begin()
        const left = many.key.split('\n').filter((each) => each !== key)
        await rig.gateway.api('PUT', '/api/channel/', { id: channel, key: left.join('\n') })
        const before = keys().length
        expect(await errorOf(await ask(goOn(id)))).toMatchObject(lost)
        expect(keys()).toHaveLength(before)
        expect((await ask({ type: 'create' })).status).toBe(200)
      })

    test('is reported as not found if that key is permanently refused, and is not sent to the account of another key', async () => {
      await claude(many)
      rig.upstream.always(sunny)
      const { id, key } = await begin()
      rig.upstream.forKey(key, status(401, { message: 'invalid x-api-key' }))
      const before = keys().length
      expect((await ask(goOn(id))).status).toBe(503)
      expect(keys().slice(before)).toEqual([key])
      expect(await errorOf(await ask(goOn(id)))).toMatchObject(lost)
      expect(keys().slice(before)).toEqual([key])
    })

    test('gets a 429 if that key is rate limited, and is not sent with another key', async () => {
      await claude(many)
      rig.upstream.always(sunny)
      const { id, key } = await begin()
      rig.upstream.forKey(key, status(429))
      const before = keys().length
      expect((await ask(goOn(id))).status).toBe(429)
      expect((await ask(goOn(id))).status).toBe(429)
      expect(keys().slice(before)).toEqual([key, key])
    })

    test('keeps that key on a channel that an admin has chosen', async () => {
      const channel = await claude(many)
      rig.upstream.always(sunny)
      const token = `${rig.gateway.token}-${channel}`
      let { id } = await begin(token)
      for (let turn = 0; turn < 3; turn++) id = await idOf(await ask(goOn(id), token))
      expect(new Set(keys()).size).toBe(1)
      expect(await errorOf(await ask(goOn('msg_of_another_day'), token))).toMatchObject(lost)
    })
  })

  test('is reported as not found if the gateway does not know on which channel it began', async () => {
    await claude()
    await claude()
    const unknown = await errorOf(await ask(goOn('msg_of_another_day')))
    expect(unknown).toEqual({
      status: 404,
      type: 'not_found_error',
      details: { error_code: 'thread_not_found' },
    })
    expect(rig.upstream.requests).toEqual([])
    const other = await rig.caller()
    rig.upstream.always(sunny)
    const id = await idOf(await ask({ type: 'create' }))
    expect((await errorOf(await ask(goOn(id), other.token))).status).toBe(404)
  })

  test('is sent to the only channel if there is just one, and the caller gets that channel’s error', async () => {
    await claude()
    const details = { error_code: 'thread_already_continued' }
    const error = { type: 'invalid_request_error', message: 'It went on already.', details }
    rig.upstream.always(behaviour('refuses', (exchange) => sendJson(exchange, 400, { type: 'error', error })))
    expect(await errorOf(await ask(goOn('msg_of_another_day')))).toMatchObject({ status: 400, details })
  })

  test('the gateway cannot see the stored part of a thread, so the hold covers the whole context, and the service’s token count is charged', async () => {
    await claude()
    rig.upstream.always(sunny)
    const caller = await rig.caller()
    const id = await idOf(await ask({ type: 'create' }, caller.token))
    expect((await ask(goOn(id), caller.token)).status).toBe(200)
    const { rows } = await chargedUnits(rig, caller)
    expect(rows.map(({ prompt_tokens }) => prompt_tokens)).toEqual([1000, 1000])
    const body = { model: 'm', max_tokens: 100, messages: said, thread: goOn(id) }
    const rich = await rig.caller({ user: 3_000_000 })
    await rig.clear({ RetryTimes: '0' })
    await claude()
    expect(await whileHeld(rig, rich, '/v1/messages', body, (amount) => amount)).toBe(context + 100)
    const begins = { ...body, thread: { type: 'create' } }
    const other = await rig.caller()
    expect(await whileHeld(rig, other, '/v1/messages', begins, (amount) => amount)).toBeLessThan(1000)
  })
})
