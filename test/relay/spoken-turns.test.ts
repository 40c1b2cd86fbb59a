// Histories with parts that only the caller's dialect supports. If these parts are dropped, the upstream must get no
// empty turns and no two consecutive turns with the same role.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { messagesFake } from '../matrix/support/fakes/anthropic.ts'
import { ernieFake } from '../matrix/support/fakes/china.ts'
import type { Fake } from '../matrix/support/fakes/fake.ts'
import { geminiFake } from '../matrix/support/fakes/google.ts'
import { says } from '../matrix/support/fakes/index.ts'
import { chatFake, responsesFake } from '../matrix/support/fakes/openai.ts'
import { cohereFake, converseFake, ollamaFake } from '../matrix/support/fakes/services.ts'
import { type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
const responsesModel = 'gpt-5.1-codex'
beforeAll(async () => {
  const ratios = JSON.stringify({ m: 1, [responsesModel]: 1 })
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: ratios, CompletionRatio: ratios } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '0' }))

const said = { thought: '', text: 'Fine.', calls: [] }

interface Turn {
  role: string
  text: string
  calls: number
  results: number
}

/** The turns of a request in any dialect, reduced to what the tests compare. */
function turnsOf(sent: JsonObject): Turn[] {
  const list = (sent['messages'] ?? sent['input'] ?? sent['contents'] ?? []) as JsonObject[]
  const isCall = (part: JsonObject) =>
    part['type'] === 'tool_use' || part['type'] === 'function_call' || 'functionCall' in part || 'toolUse' in part
  const isResult = (part: JsonObject) =>
    part['type'] === 'tool_result' ||
    part['type'] === 'function_call_output' ||
    'functionResponse' in part ||
    'toolResult' in part
  return list.map((message) => {
    const inner = (message['content'] ??
      message['parts'] ??
      (typeof message['type'] === 'string' ? [message] : [])) as unknown
    const parts =
      typeof inner === 'string' ? [{ text: inner }] : Array.isArray(inner) ? (inner as unknown[]).filter(isObject) : []
    const made = Array.isArray(message['tool_calls']) ? message['tool_calls'].length : 0
    const calls = made + (isObject(message['function_call']) ? 1 : 0)
    const isAssistant = isCall(message) || message['role'] === 'assistant' || message['role'] === 'model'
    return {
      role:
        message['role'] === 'system' || message['role'] === 'developer' ? 'system' : isAssistant ? 'assistant' : 'user',
      text: parts.map((part) => (typeof part['text'] === 'string' ? part['text'] : '')).join('|'),
      calls: calls + parts.filter(isCall).length,
      results: (message['role'] === 'tool' || message['role'] === 'function' ? 1 : 0) + parts.filter(isResult).length,
    }
  })
}

const services: readonly (readonly [string, Parameters<Rig['channel']>[0] & object, Fake])[] = [
  ['Anthropic', { type: 14 }, messagesFake],
  ['chat', { type: 44 }, chatFake],
  ['the Responses API', { type: 1, models: responsesModel }, responsesFake],
  ['Gemini', { type: 24 }, geminiFake],
  ['Converse', { type: 33, models: 'm', key: 'AK|SK|us-east-1' }, converseFake],
  ['Cohere', { type: 35 }, cohereFake],
  ['Ollama', { type: 30 }, ollamaFake],
  ['Ernie', { type: 15, key: 'id|secret' }, ernieFake],
]

const white = ' \n\t'
/** Histories that would leave empty turns, and the texts that should be sent. */
const histories: readonly (readonly [
  string,
  string,
  (model: string) => JsonObject,
  readonly string[],
  string | null,
])[] = [
  [
    'answers with only hosted calls or thoughts, from the Responses API',
    '/v1/responses',
    (model) => ({
      model,
      store: false,
      input: [
        { role: 'user', content: 'One' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }] },
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
        { role: 'user', content: 'Two' },
        {
          type: 'local_shell_call',
          id: 'ls_1',
          call_id: 'c',
          status: 'completed',
          action: { type: 'exec', command: ['ls'], env: {} },
        },
        { type: 'local_shell_call_output', id: 'lso_1', output: 'a' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: white, annotations: [] }] },
        { role: 'user', content: 'Three' },
      ],
    }),
    ['user One Two Three'],
    'input.reasoning',
  ],
  [
    'answers that are white space or empty, from chat',
    '/v1/chat/completions',
    (model) => ({
      model,
      messages: [
        { role: 'system', content: white },
        { role: 'user', content: 'One' },
        { role: 'assistant', content: white },
        { role: 'user', content: 'Two' },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: null, reasoning_content: 'Hm' },
        { role: 'user', content: 'Three' },
        { role: 'assistant', content: 'Four' },
        { role: 'user', content: [{ type: 'text', text: '' }] },
        { role: 'user', content: 'Five' },
      ],
    }),
    ['user One Two Three', 'assistant Four', 'user Five'],
    'messages.reasoning_content',
  ],
  [
    'answers with only thoughts or tools of the service, from Messages',
    '/v1/messages',
    (model) => ({
      model,
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'One' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm', signature: 'EqQB' }] },
        { role: 'user', content: 'Two' },
        { role: 'assistant', content: [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }] },
        { role: 'assistant', content: white },
        { role: 'user', content: white },
        { role: 'assistant', content: 'Three' },
        { role: 'assistant', content: 'Four' },
        { role: 'user', content: 'Five' },
      ],
    }),
    ['user One Two', 'assistant Three Four', 'user Five'],
    'messages.thinking',
  ],
  [
    'the pieces of a stream as separate turns, from Gemini',
    '/v1beta/models/$:generateContent',
    () => ({
      contents: [
        { role: 'user', parts: [{ text: 'One' }] },
        { role: 'model', parts: [{ text: 'Hm', thought: true }] },
        { role: 'model', parts: [{ text: 'Tw' }] },
        { role: 'model', parts: [{ text: 'o' }] },
        { role: 'model', parts: [{ functionCall: { id: 'a', name: 'look', args: {} } }] },
        { role: 'model', parts: [{ functionCall: { id: 'b', name: 'look', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'look', response: { output: 'x' } } }] },
        { role: 'user', parts: [{ functionResponse: { id: 'b', name: 'look', response: { output: 'y' } } }] },
        { role: 'model', parts: [{ text: white }] },
        { role: 'user', parts: [{ text: 'Three' }] },
      ],
    }),
    [],
    null,
  ],
]

describe.each(histories)('%s', (_title, path, body, expected, lost) => {
  const own: Readonly<Record<string, string>> = {
    '/v1/messages': 'Anthropic',
    '/v1/chat/completions': 'chat',
    '/v1/responses': 'the Responses API',
  }
  const others = services.filter(([name]) => own[path] !== name && !(path.startsWith('/v1beta') && name === 'Gemini'))
  test.each(others)('are sent to %s as non-empty turns with alternating roles', async (_name, fields, fake) => {
    const model = fields.models ?? 'm'
    await rig.channel({ models: 'm', ...fields })
    rig.upstream.always(says(fake, said))
    const caller = await rig.caller()
    const response = await rig.gateway.post(path.replace('$', model), body(model), caller.token)
    const answer = await response.text()
    expect([response.status, answer]).toEqual([200, answer])
    const turns = turnsOf(rig.upstream.last.fields)
    for (const turn of turns) expect(turn.text.trim() !== '' || turn.calls > 0 || turn.results > 0).toBe(true)
    expect(turns.some(({ role }) => role === 'system')).toBe(false)
    for (const [at, turn] of turns.entries()) {
      const last = turns[at - 1]
      // In OpenAI's dialects, results and calls are separate messages or items.
      const isOwn = turn.results > 0 || (last?.results ?? 0) > 0 || _name === 'the Responses API'
      if (last && !isOwn) expect([last, turn, last.role !== turn.role]).toEqual([last, turn, true])
    }
    if (lost) expect(response.headers.get('x-tollgate-dropped') ?? '').toContain(lost)
    if (expected.length > 0)
      expect(
        turns.map(
          ({ role, text }) =>
            `${role} ${text
              .split(/[|\n]+/)
              .filter(Boolean)
              .join(' ')}`,
        ),
      ).toEqual([...expected])
    else {
      expect(turns.reduce((sum, { calls }) => sum + calls, 0)).toBe(2)
      expect(turns.find(({ role }) => role === 'assistant')?.text.replaceAll('|', '')).toContain('Two')
    }
  })
})

test('answers that consist only of white space are not sent to Anthropic, even if the request is otherwise passed on unchanged', async () => {
  await rig.channel({ type: 14 })
  rig.upstream.always(says(messagesFake, said))
  const caller = await rig.caller()
  const messages = [
    { role: 'user', content: 'One' },
    { role: 'assistant', content: white },
    { role: 'user', content: 'Two' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: '' },
        { type: 'text', text: 'Three' },
      ],
    },
    { role: 'user', content: 'Four' },
    { role: 'assistant', content: [] },
    { role: 'user', content: 'Five' },
  ]
  const seen = await see(rig.gateway.post('/v1/messages', { model: 'm', max_tokens: 9, messages }, caller.token))
  expect(seen.status).toBe(200)
  expect(rig.upstream.last.fields['messages']).toEqual([
    { role: 'user', content: 'One' },
    { role: 'user', content: 'Two' },
    { role: 'assistant', content: [{ type: 'text', text: 'Three' }] },
    { role: 'user', content: 'Four' },
    { role: 'user', content: 'Five' },
  ])
})

test('a request that contains only white space is sent, so that the service can refuse it', async () => {
  await rig.channel({ type: 44 })
  rig.upstream.always(says(chatFake, said))
  const caller = await rig.caller()
  const messages = [{ role: 'user', content: white }]
  await see(rig.gateway.post('/v1/messages', { model: 'm', max_tokens: 9, messages }, caller.token))
  expect(rig.upstream.last.fields['messages']).toEqual([{ role: 'user', content: white }])
})
