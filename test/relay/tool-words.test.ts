// Call ids and tool names that a service would refuse are replaced by valid and unique ones. Answers contain the
// original ids and names.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../server/lib/json.ts'
import { type Behaviour, behaviour } from '../helpers/fake-upstream.ts'
import { messagesFake } from '../matrix/support/fakes/anthropic.ts'
import type { Fake, Said } from '../matrix/support/fakes/fake.ts'
import { geminiFake } from '../matrix/support/fakes/google.ts'
import { says } from '../matrix/support/fakes/index.ts'
import { chatFake, responsesFake } from '../matrix/support/fakes/openai.ts'
import { cohereFake } from '../matrix/support/fakes/services.ts'
import { type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
const responsesModel = 'gpt-5.1-codex'
beforeAll(async () => {
  const ratios = JSON.stringify({ m: 1, [responsesModel]: 1 })
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: ratios, CompletionRatio: ratios } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '0' }))

type Wire = JsonObject & { [name: string]: never }

async function ask(path: string, body: JsonObject): Promise<{ answer: Wire; text: string; sent: Wire; bytes: string }> {
  const caller = await rig.caller()
  const seen = await see(rig.gateway.post(path, body, caller.token))
  expect([seen.status, seen.text]).toEqual([200, seen.text])
  const answer = seen.text.startsWith('{') ? (JSON.parse(seen.text) as Wire) : ({} as Wire)
  return { answer, text: seen.text, sent: rig.upstream.last.fields as Wire, bytes: rig.upstream.last.text }
}

const spoken: Said = { thought: '', text: 'Done.', calls: [] }
const calling = (name: string, ...ids: string[]): Said => ({
  thought: '',
  text: '',
  calls: ids.map((id) => ({ id, name, input: {} })),
})

/** The same tool loop in the dialects of three callers. */
const histories: Readonly<Record<string, (ids: readonly string[]) => JsonObject>> = {
  '/v1/messages': (ids) => ({
    model: 'm',
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'Hi' },
      ...ids.flatMap((id) => [
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'blue' }] },
      ]),
    ],
  }),
  '/v1/chat/completions': (ids) => ({
    model: 'm',
    messages: [
      { role: 'user', content: 'Hi' },
      ...ids.flatMap((id) => [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: id, content: 'blue' },
      ]),
    ],
  }),
  '/v1/responses': (ids) => ({
    model: 'm',
    store: false,
    input: [
      { role: 'user', content: 'Hi' },
      ...ids.flatMap((id) => [
        { type: 'function_call', call_id: id, name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: id, output: 'blue' },
      ]),
    ],
  }),
}

/** The ids of the calls and of the results in a request, each in order. */
function idsIn(value: unknown): { calls: string[]; results: string[] } {
  const found = { calls: [] as string[], results: [] as string[] }
  const walk = (each: unknown): void => {
    if (typeof each !== 'object' || each === null) return
    const wire = each as JsonObject
    if (wire['type'] === 'tool_use' || (wire['type'] === 'function' && 'id' in wire))
      found.calls.push(String(wire['id']))
    if (wire['type'] === 'function_call') found.calls.push(String(wire['call_id']))
    if (typeof wire['toolUseId'] === 'string') found['name' in wire ? 'calls' : 'results'].push(wire['toolUseId'])
    if (wire['type'] === 'tool_result') found.results.push(String(wire['tool_use_id']))
    if (wire['role'] === 'tool') found.results.push(String(wire['tool_call_id']))
    if (wire['type'] === 'function_call_output') found.results.push(String(wire['call_id']))
    for (const inner of Object.values(wire)) walk(inner)
  }
  walk(value)
  return found
}

const services: readonly [
  string,
  Partial<{ type: number; models: string; key: string; config: string }>,
  Fake,
  RegExp,
][] = [
  ['Anthropic', { type: 14 }, messagesFake, /^[a-zA-Z0-9_-]+$/],
  ['OpenAI’s chat', { type: 44 }, chatFake, /^[\s\S]{1,40}$/],
  ['Mistral', { type: 28 }, chatFake, /^[a-zA-Z0-9]{9}$/],
  ['the Responses API', { type: 1, models: responsesModel }, responsesFake, /^[\s\S]{1,64}$/],
]

describe.each(services)('call ids that are sent to %s', (_service, fields, fake, pattern) => {
  const model = fields.models ?? 'm'
  const ids = ['functions.Bash:0', 'a:0', 'a.0', 'a_0', 'call_123', 'x'.repeat(90), `${'x'.repeat(90)}y`, '', '']
  test.each(Object.keys(histories))(
    'from %s are valid and distinct, and are the same in the call and its result',
    async (path) => {
      await rig.channel({ models: 'm', ...fields })
      rig.upstream.always(says(fake, spoken))
      const { sent } = await ask(path, { ...histories[path]?.(ids), model })
      const { calls, results } = idsIn(sent)
      expect(calls).toHaveLength(ids.length)
      expect(results).toEqual(calls)
      expect(new Set(calls).size).toBe(ids.length)
      for (const id of calls) expect(id).toMatch(pattern)
      for (const id of ['a_0', 'call_123']) if (pattern.test(id)) expect(calls).toContain(id)
    },
  )

  test.each(Object.keys(histories))(
    'from %s are made distinct if two calls have the same id and the service requires distinct ids',
    async (path) => {
      await rig.channel({ models: 'm', ...fields })
      rig.upstream.always(says(fake, spoken))
      const { sent } = await ask(path, { ...histories[path]?.(['abcDEF123', 'abcDEF123']), model })
      const { calls, results } = idsIn(sent)
      expect(results).toEqual(calls)
      expect(new Set(calls).size).toBe(fields.type === 14 ? 2 : 1)
      expect(calls[0]).toBe('abcDEF123')
    },
  )
})

test('a request whose ids are valid is passed on byte for byte', async () => {
  for (const [path, type, model] of [
    ['/v1/messages', 14, 'm'],
    ['/v1/chat/completions', 1, 'm'],
    ['/v1/responses', 1, responsesModel],
  ] as const) {
    await rig.clear()
    await rig.channel({ type, models: model })
    rig.upstream.always(says(type === 14 ? messagesFake : model === 'm' ? chatFake : responsesFake, spoken))
    const body = { ...histories[path]?.(['call_1', 'call_2']), model }
    expect((await ask(path, body)).bytes).toBe(JSON.stringify(body))
  }
})

test('an id that the caller’s dialect does not allow is encoded in a valid id, and is decoded when it comes back', async () => {
  await rig.channel({ type: 1 })
  const own = 'functions.Bash:0'
  for (const stream of [false, true]) {
    rig.upstream.always(says(chatFake, calling('look', own)))
    const { text } = await ask('/v1/messages', {
      model: 'm',
      max_tokens: 9,
      stream,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    const id = /"id":"(tgid_[a-zA-Z0-9_-]+)"/.exec(text)?.[1] ?? ''
    expect(id).not.toBe('')
    expect(text).not.toContain(own)
    rig.upstream.always(says(chatFake, spoken))
    const { sent } = await ask('/v1/messages', histories['/v1/messages']?.([id]) ?? {})
    expect(idsIn(sent)).toEqual({ calls: [own], results: [own] })
  }
})

test('calls in an answer whose ids are missing or equal get distinct ids', async () => {
  await rig.channel({ type: 14 })
  for (const stream of [false, true]) {
    rig.upstream.always(says(messagesFake, calling('look', '', '', 'a', 'a')))
    const body = { model: 'm', stream, messages: [{ role: 'user', content: 'Hi' }] }
    const { text } = await ask('/v1/chat/completions', body)
    const ids = [...text.matchAll(/"id":"([^"]*)","type":"function"/g)].map((match) => match[1])
    expect(ids).toHaveLength(4)
    expect(new Set(ids).size).toBe(4)
    expect(ids).not.toContain('')
    expect(ids).toContain('a')
  }
})

describe('tool names', () => {
  const names = [
    'mcp.server.read',
    'mcp:server:read',
    'mcp/server read',
    '1st',
    'näme',
    'look',
    'l'.repeat(140),
    `${'l'.repeat(140)}k`,
  ]
  const tools: Readonly<Record<string, (model: string) => JsonObject>> = {
    '/v1/messages': (model) => ({
      model,
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: names[0], input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'blue' }] },
      ],
      tools: names.map((name) => ({ name, input_schema: { type: 'object' } })),
      tool_choice: { type: 'tool', name: names[1] },
    }),
    '/v1/chat/completions': (model) => ({
      model,
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: names[0], arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'blue' },
      ],
      tools: names.map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })),
      tool_choice: { type: 'function', function: { name: names[1] } },
    }),
    '/v1/responses': (model) => ({
      model,
      store: false,
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'function_call', call_id: 'a', name: names[0], arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'blue' },
      ],
      tools: names.map((name) => ({ type: 'function', name, parameters: { type: 'object' }, strict: false })),
      tool_choice: { type: 'function', name: names[1] },
    }),
  }

  /** The names of the tools in a request of any dialect. */
  function offered(sent: JsonObject): string[] {
    const out: string[] = []
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      const { name } = value as JsonObject
      if (typeof name === 'string') out.push(name)
      for (const each of Object.values(value)) walk(each)
    }
    walk(sent['tools'] ?? sent['toolConfig'])
    return [...new Set(out)]
  }

  /** A service that calls the tool at position `at` of the request, counted from 0. */
  const callsOffered = (fake: Fake, at: number): Behaviour =>
    behaviour('calls what is offered', (exchange) =>
      says(fake, calling(offered(exchange.request.fields)[at] ?? '', 'b')).run(exchange),
    )

  const all: readonly [string, Parameters<Rig['channel']>[0] & object, Fake, RegExp][] = [
    ['Anthropic', { type: 14 }, messagesFake, /^[a-zA-Z0-9_-]{1,128}$/],
    ['OpenAI’s chat', { type: 44 }, chatFake, /^[a-zA-Z0-9_-]{1,64}$/],
    ['the Responses API', { type: 1, models: responsesModel }, responsesFake, /^[a-zA-Z0-9_-]{1,64}$/],
    ['Gemini', { type: 24 }, geminiFake, /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/],
    ['Cohere', { type: 35 }, cohereFake, /^[a-zA-Z0-9_-]{1,64}$/],
  ]
  const own: Readonly<Record<string, string>> = {
    '/v1/messages': 'Anthropic',
    '/v1/chat/completions': 'OpenAI’s chat',
    '/v1/responses': 'the Responses API',
  }
  const ways = Object.keys(tools).flatMap((path) =>
    all.filter(([name]) => own[path] !== name).map((each) => [path, ...each] as const),
  )

  test.each(ways)(
    'from %s are sent to %s in a form that it accepts, and come back to the caller unchanged',
    async (path, service, fields, fake, pattern) => {
      await rig.channel({ models: 'm', ...fields })
      const whole = tools[path]?.(fields.models ?? 'm') ?? {}
      // If the request chooses a tool, Cohere is sent only that tool, so the choice is removed.
      const body = service === 'Cohere' ? { ...whole, tool_choice: undefined } : whole
      for (const at of [0, 5, 7])
        for (const stream of [false, true]) {
          rig.upstream.always(callsOffered(fake, at))
          const { text, sent } = await ask(path, { ...body, stream })
          const sentNames = offered(sent)
          expect([service, sentNames.length]).toEqual([service, names.length])
          for (const name of sentNames) expect(name).toMatch(pattern)
          for (const [index, name] of names.entries()) if (pattern.test(name)) expect(sentNames[index]).toBe(name)
          // The history and the tool choice use the same names.
          const rest = JSON.stringify({ ...sent, tools: [] })
          expect(rest).toContain(JSON.stringify(sentNames[0]))
          expect(text).toContain(JSON.stringify(names[at]))
          if (sentNames[at] !== names[at]) expect(text).not.toContain(JSON.stringify(sentNames[at]))
        }
    },
  )
})
