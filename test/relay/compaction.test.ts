// Compaction replaces a conversation by one item. Either the service or the gateway creates the item.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../server/lib/json.ts'
import { sendJson } from '../helpers/fake-upstream/reply.ts'
import { behaviour, okChat, status } from '../helpers/fake-upstream.ts'
import { charged, chargedUnits, eventsOf, expectError, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '0' }))

const path = '/v1/responses/compact'
const trigger = { type: 'compaction_trigger' }
const history = [
  { role: 'user', content: 'Rename the file a.txt to b.txt.' },
  { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{"command":"mv a.txt b.txt"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'renamed' },
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed thoughts' },
  { role: 'assistant', content: 'Done.' },
]
const tools = [{ type: 'function', name: 'shell', parameters: { type: 'object', properties: {} } }]
const native = {
  id: 'resp_1',
  object: 'response.compaction',
  created_at: 1,
  output: [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'sealed at OpenAI' }],
  usage: { input_tokens: 30, output_tokens: 12, total_tokens: 42 },
}
const compacts = behaviour('compacts', (exchange) => sendJson(exchange, 200, native))

/** A response of the Responses API with a text. */
const says = (text: string) =>
  behaviour('says', (exchange) =>
    sendJson(exchange, 200, {
      ...native,
      object: 'response',
      status: 'completed',
      output: [
        { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] },
      ],
    }),
  )

interface Compaction {
  object: string
  output: JsonObject[]
  usage: JsonObject
}

const compact = (token: string, fields: object = {}) =>
  rig.gateway.post(path, { model: 'm', input: history, tools, ...fields }, token)
const sent = () => rig.upstream.requests[0]?.fields as JsonObject

/** Has the gateway create an item through a chat channel, and returns the item. */
async function ownItem(token: string, text: string): Promise<JsonObject> {
  rig.upstream.next(okChat({ text }))
  const answer = (await (await compact(token)).json()) as Compaction
  rig.upstream.clear()
  return answer.output[0] ?? {}
}

describe('a channel that compacts conversations itself', () => {
  test.each([
    ['OpenAI', { type: 1 }, '/v1/responses/compact'],
    ['Azure', { type: 3, other: 'v1' }, '/openai/v1/responses/compact'],
  ] as const)('%s gets the request unchanged, and its answer is passed on and charged', async (_, fields, there) => {
    await rig.channel({ ...fields, model_mapping: '{"m":"m2"}' })
    const caller = await rig.caller()
    rig.upstream.next(compacts)
    const seen = await see(compact(caller.token))
    expect([seen.status, JSON.parse(seen.text)]).toEqual([200, native])
    expect(rig.upstream.requests.map((each) => each.path)).toEqual([there])
    expect(sent()).toEqual({
      model: 'm2',
      input: history,
      tools,
    })
    const [row] = await charged(rig, caller, 42)
    expect(row).toMatchObject({ prompt_tokens: 30, completion_tokens: 12, estimated: 0, outcome: 'complete' })
  })

  test('gets the items that it made before, and the request to compact within a response', async () => {
    await rig.channel()
    const input = [...native.output, { role: 'user', content: 'Go on.' }, trigger]
    rig.upstream.next(says('Gone on.'))
    const seen = await see(rig.gateway.post('/v1/responses', { model: 'm', input }))
    expect(seen.status).toBe(200)
    expect(rig.upstream.requests.map((each) => each.path)).toEqual(['/v1/responses'])
    expect(sent()['input']).toEqual(input)
  })

  test('is asked for a summary if its server turns out not to have the endpoint; later calls ask for the summary immediately', async () => {
    await rig.channel()
    const caller = await rig.caller()
    rig.upstream.next(status(404, { message: 'Invalid URL (POST /v1/responses/compact)', code: null }))
    for (const _ of [1, 2]) expect((await compact(caller.token)).status).toBe(200)
    expect(rig.upstream.requests.map((each) => each.path)).toEqual([
      path,
      // The second attempt: the server does not have the Responses API.
      '/v1/responses',
      '/v1/chat/completions',
      '/v1/chat/completions',
    ])
  })

  test('is asked for a summary if the quota does not cover all that a compaction could cost', async () => {
    await rig.channel()
    const caller = await rig.caller({ user: 2000, token: 2000 })
    rig.upstream.next(says('b.txt'))
    expect((await compact(caller.token)).status).toBe(200)
    expect(rig.upstream.requests.map((each) => each.path)).toEqual(['/v1/responses'])
    expect(sent()['max_output_tokens']).toBeLessThan(2000)
    await chargedUnits(rig, caller, 2000)
  })
})

describe('the headers of Codex', () => {
  const own = { session_id: 'session-1', originator: 'codex_exec', 'x-codex-turn-metadata': '{"turn":1}' }
  const others = { 'x-codex-': 'none', 'x-other': 'none', cookie: 'a=b', 'x-codex-long': 'x'.repeat(9000) }

  test.each([
    ['OpenAI, for a response', 1, '/v1/responses', own],
    ['OpenAI, for a compaction', 1, path, own],
    ['xAI, which speaks the same dialect', 45, '/v1/responses', {}],
    ['a custom channel', 8, '/v1/responses', {}],
    ['OpenAI, for a chat', 1, '/v1/chat/completions', {}],
  ] as const)('are sent to OpenAI only: %s', async (_, type, to, expected) => {
    await rig.channel({ type })
    const body = { model: 'm', input: 'Hi', messages: [{ role: 'user', content: 'Hi' }] }
    const headers = { ...own, ...others, authorization: `Bearer ${rig.gateway.token}` }
    await see(fetch(rig.gateway.url + to, { method: 'POST', headers, body: JSON.stringify(body) }))
    const seen = Object.fromEntries(rig.upstream.requests[0]?.headers ?? [])
    const names = [...Object.keys(own), ...Object.keys(others)]
    expect(Object.fromEntries(names.flatMap((name) => (seen[name] === undefined ? [] : [[name, seen[name]]])))).toEqual(
      expected,
    )
  })
})

describe('any other channel', () => {
  test('writes a summary, which is charged and returned as one encrypted item', async () => {
    await rig.channel({ type: 8 })
    const caller = await rig.caller()
    rig.upstream.next(okChat({ text: 'a.txt is now b.txt' }))
    const answer = (await (await compact(caller.token)).json()) as Compaction
    expect(answer).toMatchObject({ object: 'response.compaction', output: [{ type: 'compaction' }] })
    expect(answer.output).toHaveLength(1)
    expect(JSON.stringify(answer)).not.toContain('b.txt')
    const { messages, tools: offered } = sent()
    expect(offered).toBeUndefined()
    const told = JSON.stringify(messages)
    for (const text of ['Rename the file', 'mv a.txt b.txt', 'renamed', 'Done.']) expect(told).toContain(text)
    expect(told).not.toContain('tool_call')
    expect(told).not.toContain('sealed thoughts')
    const { units, rows } = await chargedUnits(rig, caller)
    expect([units > 0, rows.length]).toEqual([true, 1])
    expect(answer.usage).toMatchObject({ input_tokens: rows[0]?.prompt_tokens })
  })

  test.each([
    ['chat', 8, '/v1/chat/completions'],
    ['Messages', 14, '/v1/messages'],
    ['OpenAI', 1, '/v1/responses'],
  ] as const)('the item is opened for a channel of any dialect: %s', async (_, type, there) => {
    await rig.channel({ type: 8, models: 'm' })
    const caller = await rig.caller()
    const item = await ownItem(caller.token, 'a.txt is now b.txt')
    await rig.clear()
    await rig.channel({ type })
    await see(
      rig.gateway.post(
        '/v1/responses',
        { model: 'm', input: [item, { role: 'user', content: 'Next?' }] },
        caller.token,
      ),
    )
    expect(rig.upstream.requests[0]?.path).toBe(there)
    expect(JSON.stringify(sent())).toContain('a.txt is now b.txt')
    expect(JSON.stringify(sent())).not.toContain('encrypted_content')
  })

  test.each([false, true])(
    'an input that ends with a trigger gets a response with one item; streamed: %p',
    async (stream) => {
      await rig.channel({ type: 8 })
      const caller = await rig.caller()
      const seen = await see(
        rig.gateway.post('/v1/responses', { model: 'm', input: [...history, trigger], stream }, caller.token),
      )
      expect(seen.status).toBe(200)
      const events = stream ? eventsOf(seen.text).map((each) => JSON.parse(each) as JsonObject) : []
      const answer = (stream ? events.at(-1)?.['response'] : JSON.parse(seen.text)) as Compaction & { status: string }
      expect([answer.object, answer.status, answer.output.map((each) => each['type'])]).toEqual([
        'response',
        'completed',
        ['compaction'],
      ])
      if (stream)
        expect(events.map((each) => each['type'])).toEqual([
          'response.created',
          'response.in_progress',
          'response.output_item.added',
          'response.output_item.done',
          'response.completed',
        ])
      await chargedUnits(rig, caller)
    },
  )

  test('if the model returns an empty summary, the caller gets an error and no item', async () => {
    await rig.channel({ type: 8 })
    rig.upstream.next(okChat({ text: ' ' }))
    expectError(await see(compact((await rig.caller()).token)), 502, 'bad_response_body')
  })

  test('refuses the item of another service', async () => {
    await rig.channel({ type: 8 })
    const caller = await rig.caller()
    const input = [...native.output, { role: 'user', content: 'Next?' }]
    const seen = await see(rig.gateway.post('/v1/responses', { model: 'm', input }, caller.token))
    expectError(seen, 400, 'feature_not_supported')
    expect(seen.error?.message).toContain('only the service that wrote it can read')
    expect(rig.upstream.requests).toEqual([])
    await charged(rig, caller, 0)
  })
})

describe('what is refused', () => {
  test.each([
    ['an item of another token', async () => (await ownItem((await rig.caller()).token, 'secret')) as object],
    [
      'a changed item',
      async (token: string) => {
        const item = await ownItem(token, 'mine')
        const sealed = String(item['encrypted_content'])
        return { ...item, encrypted_content: `${sealed.slice(0, -6)}AAAAAA` }
      },
    ],
  ] as const)('%s', async (_, make) => {
    await rig.channel({ type: 8 })
    const caller = await rig.caller()
    const input = [await make(caller.token), { role: 'user', content: 'Next?' }]
    const seen = await see(rig.gateway.post('/v1/responses', { model: 'm', input }, caller.token))
    expectError(seen, 400, 'invalid_field_value')
    expect(seen.error?.param).toBe('input[0]')
    expect(rig.upstream.requests).toEqual([])
  })

  test('a compaction as a stream, and an input whose trigger is not its last item', async () => {
    await rig.channel({ type: 8 })
    const { token } = await rig.caller()
    expect((await see(compact(token, { stream: true }))).error?.param).toBe('stream')
    const input = [trigger, { role: 'user', content: 'Hi' }]
    expect((await see(rig.gateway.post('/v1/responses', { model: 'm', input }, token))).error?.param).toBe('input[0]')
  })
})
