import { describe, expect, test } from 'bun:test'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import { failureOf } from '../../server/dialects/neutral/failure.ts'
import type { FailureKind } from '../../server/dialects/neutral/reply.ts'
import { GatewayError } from '../../server/errors.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { casesOf, dialects, encodeAll, frameOf } from '../helpers/dialects.ts'
import { leastCases } from '../helpers/recordings.ts'

const names = Object.keys(dialects) as DialectName[]
const hi = [{ role: 'user', content: 'Hi' }]

/** An invalid request of each kind, and the field that its error must name. */
const wrong: readonly (readonly [DialectName, string, JsonObject])[] = [
  ['openai-chat', 'model', { messages: hi }],
  ['openai-chat', 'messages', { model: 'm' }],
  ['openai-chat', 'messages', { model: 'm', messages: [] }],
  ['openai-chat', 'messages[0]', { model: 'm', messages: ['Hi'] }],
  ['openai-chat', 'messages[0].role', { model: 'm', messages: [{ content: 'Hi' }] }],
  ['openai-chat', 'messages[0].role', { model: 'm', messages: [{ role: 'robot', content: 'Hi' }] }],
  ['openai-chat', 'messages[0].content', { model: 'm', messages: [{ role: 'user' }] }],
  ['openai-chat', 'messages[0].content', { model: 'm', messages: [{ role: 'user', content: 5 }] }],
  [
    'openai-chat',
    'messages[0].content[1].type',
    { model: 'm', messages: [{ role: 'user', content: ['a', { type: 'smell' }] }] },
  ],
  [
    'openai-chat',
    'messages[0].content[0].image_url',
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
  ],
  ['openai-chat', 'messages[0].tool_call_id', { model: 'm', messages: [{ role: 'tool', content: 'x' }] }],
  [
    'openai-chat',
    'messages[0].tool_calls[0].function',
    { model: 'm', messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }] },
  ],
  ['openai-chat', 'tools[0].function.name', { model: 'm', messages: hi, tools: [{ type: 'function', function: {} }] }],
  ['openai-chat', 'max_tokens', { model: 'm', messages: hi, max_tokens: -1 }],
  ['openai-chat', 'temperature', { model: 'm', messages: hi, temperature: 'hot' }],
  ['openai-chat', 'stream', { model: 'm', messages: hi, stream: 'yes' }],
  ['openai-chat', 'tool_choice', { model: 'm', messages: hi, tool_choice: 'perhaps' }],
  ['openai-chat', 'response_format.type', { model: 'm', messages: hi, response_format: { type: 'xml' } }],
  ['openai-chat', 'reasoning_effort', { model: 'm', messages: hi, reasoning_effort: 'huge' }],
  ['openai-chat', 'stop[0]', { model: 'm', messages: hi, stop: [1] }],
  ['openai-responses', 'input', { model: 'm' }],
  ['openai-responses', 'input', { model: 'm', input: 5 }],
  ['openai-responses', 'input[0].role', { model: 'm', input: [{ content: 'Hi' }] }],
  [
    'openai-responses',
    'input[0].content[0].type',
    { model: 'm', input: [{ role: 'user', content: [{ type: 'text_input' }] }] },
  ],
  ['openai-responses', 'input[0].call_id', { model: 'm', input: [{ type: 'function_call_output', output: 'x' }] }],
  ['openai-responses', 'tools[0].type', { model: 'm', input: 'Hi', tools: [{ name: 'f' }] }],
  ['openai-responses', 'text.format.type', { model: 'm', input: 'Hi', text: { format: {} } }],
  ['anthropic-messages', 'max_tokens', { model: 'm', messages: hi }],
  ['anthropic-messages', 'messages[0].role', { model: 'm', max_tokens: 1, messages: [{ role: 'tool', content: 'x' }] }],
  ['anthropic-messages', 'messages[0].content', { model: 'm', max_tokens: 1, messages: [{ role: 'user' }] }],
  [
    'anthropic-messages',
    'messages[0].content[0].source.type',
    { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'disk' } }] }] },
  ],
  [
    'anthropic-messages',
    'messages[0].content[0].tool_use_id',
    { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] },
  ],
  [
    'anthropic-messages',
    'tool_choice.name',
    { model: 'm', max_tokens: 1, messages: hi, tool_choice: { type: 'tool' } },
  ],
  [
    'anthropic-messages',
    'thinking.budget_tokens',
    { model: 'm', max_tokens: 1, messages: hi, thinking: { type: 'enabled', budget_tokens: 'x' } },
  ],
  ['gemini', 'contents', {}],
  ['gemini', 'contents[0].role', { contents: [{ role: 'system', parts: [] }] }],
  [
    'gemini',
    'contents[0].parts[0].functionResponse.name',
    { contents: [{ parts: [{ functionResponse: { response: {} } }] }] },
  ],
  [
    'gemini',
    'contents[0].parts[0].inlineData.data',
    { contents: [{ parts: [{ inline_data: { mime_type: 'image/png' } }] }] },
  ],
  [
    'gemini',
    'generationConfig.maxOutputTokens',
    { contents: [{ parts: [{ text: 'x' }] }], generation_config: { max_output_tokens: '5' } },
  ],
]

describe('an invalid request is refused with a 400 that names the field:', () => {
  for (const [name, place, wire] of wrong) {
    test(`${name} ${place} in ${JSON.stringify(wire)}`, () => {
      const refusal = failing(() => dialects[name].decodeRequest(wire, name === 'gemini' ? { model: 'm' } : {}))
      expect([refusal.status, refusal.param, refusal.message]).toEqual([400, place, expect.stringContaining(place)])
    })
  }

  test('counting tokens does not need max_tokens', () => {
    expect(
      dialects['anthropic-messages'].decodeRequest({ model: 'm', messages: hi }, { countOnly: true }).maxTokens,
    ).toBe(undefined)
  })
})

function failing(act: () => unknown): GatewayError {
  try {
    act()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** Each dialect's terms for the kinds of failure: the status of the response and its error type. */
const words: Readonly<Record<DialectName, Readonly<Partial<Record<FailureKind, string>>>>> = {
  'openai-chat': {
    invalid: 'invalid_request_error',
    'rate-limit': 'rate_limit_error',
    billing: 'insufficient_quota',
    server: 'server_error',
  },
  'openai-responses': {
    invalid: 'invalid_request_error',
    'rate-limit': 'rate_limit_error',
    billing: 'insufficient_quota',
    server: 'server_error',
  },
  'anthropic-messages': {
    invalid: 'invalid_request_error',
    authentication: 'authentication_error',
    permission: 'permission_error',
    'not-found': 'not_found_error',
    'too-large': 'request_too_large',
    'rate-limit': 'rate_limit_error',
    overloaded: 'overloaded_error',
    server: 'api_error',
  },
  gemini: {
    invalid: 'INVALID_ARGUMENT',
    authentication: 'UNAUTHENTICATED',
    permission: 'PERMISSION_DENIED',
    'not-found': 'NOT_FOUND',
    'rate-limit': 'RESOURCE_EXHAUSTED',
    overloaded: 'UNAVAILABLE',
    server: 'INTERNAL',
  },
}

function wordOf(name: DialectName, body: JsonObject): unknown {
  const error = isObject(body['error']) ? body['error'] : {}
  return name === 'gemini' ? error['status'] : error['type']
}

describe('a failure', () => {
  for (const name of names) {
    test(`is reported in the format of ${name}, and parsed from it`, () => {
      for (const [kind, word] of Object.entries(words[name])) {
        const failure = {
          status: 418,
          kind: kind as FailureKind,
          message: 'why',
          dialect: other(name),
          type: 'its-word',
          code: 'its-word',
        } as const
        const body = dialects[name].encodeFailure(failure, 'req-1')
        expect(wordOf(name, body)).toBe(word)
        expect(JSON.stringify(body)).toContain('req-1')
        expect(JSON.stringify(body)).not.toContain('its-word')
        const again = dialects[name].decodeFailure(0, body)
        expect([again.kind, again.message.replace(' (request id: req-1)', '')]).toEqual([kind as FailureKind, 'why'])
      }
    })

    test(`of the gateway itself is reported in the format of ${name}, with its code only in OpenAI's formats`, () => {
      const failure = failureOf(new GatewayError('insufficient_user_quota', 'user quota is not enough'))
      const text = JSON.stringify(dialects[name].encodeFailure(failure, 'req-1'))
      expect(text).toContain('user quota is not enough')
      expect(text.includes('insufficient_user_quota')).toBe(name.startsWith('openai'))
    })

    test(`in the middle of a stream of ${name} ends the stream with an error that the decoder recognises`, () => {
      const text = encodeAll(
        dialects[name],
        [
          { type: 'start' },
          { type: 'part', choice: 0, index: 0, part: { type: 'text', text: 'Hal' } },
          { type: 'error', failure: { status: 503, kind: 'overloaded', message: 'too much' } },
        ],
        frameOf(name),
      )
      expect(text).toContain('too much')
      expect(text).not.toMatch(/\[DONE\]|message_stop|response\.completed|finishReason/)
    })
  }

  function other(name: DialectName): DialectName {
    return name === 'gemini' ? 'anthropic-messages' : 'gemini'
  }

  test('is recognised by its status if a proxy has replaced or removed its body', () => {
    for (const name of names) {
      for (const body of [
        undefined,
        '<html>10.0.0.1</html>',
        null,
        [],
        {},
        { error: 'busy' },
        [{ error: { message: 'busy' } }],
      ]) {
        const failure = dialects[name].decodeFailure(503, body)
        expect([failure.kind, failure.status]).toEqual(['overloaded', 503])
        expect(failure.message).toMatch(/^busy$|^bad response status code 503$/)
      }
    }
  })
})

describe('recorded errors', () => {
  const kinds: Readonly<Record<number, FailureKind>> = {
    401: 'authentication',
    403: 'permission',
    404: 'not-found',
    503: 'overloaded',
  }
  for (const name of names) {
    test(`of ${name} keep their status and message, and can be written in every dialect`, () => {
      const recorded = casesOf(name, { status: 'error' }).filter(({ responseJson }) => responseJson !== undefined)
      expect(recorded.length).toBeGreaterThanOrEqual(leastCases(6))
      for (const { id, status, responseJson } of recorded) {
        const failure = dialects[name].decodeFailure(status, responseJson)
        expect({ id, status: failure.status, found: failure.message !== '' }).toEqual({ id, status, found: true })
        const kind = kinds[status]
        if (kind) expect({ id, kind: failure.kind }).toEqual({ id, kind })
        for (const to of names) {
          const body = dialects[to].encodeFailure(failure, 'req-1')
          const told = (isObject(body['error']) ? body['error'] : {})['message']
          expect({ id, told }).toEqual({ id, told: expect.stringContaining(failure.message) })
        }
      }
    })
  }
})
