import { describe, expect, test } from 'bun:test'
import { cohereChat } from '../../server/dialects/cohere-chat/index.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { assemble, decodeAll, dialects } from '../helpers/dialects.ts'
import { listCases, loadCase, recordingsAvailable, sseData } from '../helpers/recordings.ts'

const encode = (body: JsonObject) =>
  cohereChat.encodeRequest(
    dialects['openai-chat'].decodeRequest({
      model: 'command-a-03-2025',
      messages: [{ role: 'user', content: 'Hi' }],
      ...body,
    }),
  )

const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }

describe('a request', () => {
  test('contains tools, results and limits in Cohere’s format', () => {
    const { body, dropped } = encode({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: '',
          reasoning_content: 'I will look.',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'rain' },
      ],
      tools: [weather, { type: 'function', function: { name: 'other' } }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      max_tokens: 9,
      temperature: 0.3,
      top_p: 1,
      stop: 'END',
      seed: 1,
      n: 1,
      user: 'u',
    })
    expect(body).toEqual({
      model: 'command-a-03-2025',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          tool_plan: 'I will look.',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'rain' },
      ],
      tools: [weather],
      tool_choice: 'REQUIRED',
      max_tokens: 9,
      temperature: 0.3,
      p: 0.99,
      stop_sequences: ['END'],
      seed: 1,
    })
    expect(dropped).toEqual(['user'])
  })

  test('contains images, structured output and thinking settings', () => {
    const url = 'data:image/png;base64,AAAA'
    const { body } = encode({
      model: 'command-a-plus-05-2026',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
      reasoning_effort: 'low',
    })
    expect(body['messages']).toEqual([{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }])
    expect(body['response_format']).toEqual({ type: 'json_object', json_schema: { type: 'object' } })
    expect(body['thinking']).toEqual({ type: 'enabled', token_budget: 1024 })
    const short = { model: 'command-a-plus-05-2026', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 500 }
    expect(encode({ ...short, reasoning_effort: 'high' }).body['thinking']).toEqual({
      type: 'enabled',
      token_budget: 400,
    })
  })

  test('a text document is sent in a field outside the messages, and any other kind of document is refused', () => {
    const file = (type: string) => ({
      role: 'user',
      content: [
        { type: 'text', text: 'Read.' },
        { type: 'file', file: { filename: 'a.txt', file_data: `data:${type};base64,aGVsbG8=` } },
      ],
    })
    expect(encode({ messages: [file('text/plain')] }).body).toMatchObject({
      messages: [{ role: 'user', content: 'Read.' }],
      documents: [{ id: 'doc:0', data: { title: 'a.txt', text: 'hello' } }],
    })
    expect(() => encode({ messages: [file('application/pdf')] })).toThrow('document')
  })
})

const wire = (type: string, rest: object) => JSON.stringify({ type, ...rest })
const stream = [
  wire('message-start', { id: 'm', delta: { message: { role: 'assistant' } } }),
  wire('tool-plan-delta', { delta: { message: { tool_plan: 'I will' } } }),
  wire('tool-plan-delta', { delta: { message: { tool_plan: ' look.' } } }),
  wire('tool-call-start', {
    index: 0,
    delta: { message: { tool_calls: { id: 'a', type: 'function', function: { name: 'f', arguments: '' } } } },
  }),
  wire('tool-call-delta', { index: 0, delta: { message: { tool_calls: { function: { arguments: '{"x"' } } } } }),
  wire('tool-call-delta', { index: 0, delta: { message: { tool_calls: { function: { arguments: ':1}' } } } } }),
  wire('tool-call-end', { index: 0 }),
  wire('message-end', {
    delta: {
      finish_reason: 'TOOL_CALL',
      usage: { billed_units: { input_tokens: 1 }, tokens: { input_tokens: 10, output_tokens: 5 }, cached_tokens: 4 },
    },
  }),
  '[DONE]',
]

describe('a stream', () => {
  test('that contains a plan and a tool call is decoded completely', () => {
    const { reply, ended } = assemble(decodeAll(cohereChat, stream))
    expect(ended).toBe(true)
    expect(reply).toEqual({
      id: 'm',
      choices: [
        {
          parts: [
            { type: 'reasoning', text: 'I will look.' },
            { type: 'tool-call', id: 'a', name: 'f', input: '{"x":1}' },
          ],
          stop: { reason: 'tool-calls' },
        },
      ],
      usage: { promptTokens: 10, completionTokens: 5, cachedTokens: 4 },
    })
  })

  test('that ends anywhere before its last event is incomplete', () => {
    for (let count = 0; count < stream.length - 2; count++) {
      const { ended, failure } = assemble(decodeAll(cohereChat, stream.slice(0, count)))
      expect(ended).toBe(false)
      expect(failure?.code).toBe('upstream_stream_incomplete')
    }
  })

  test('that the service aborted is reported as an error', () => {
    const end = wire('message-end', { delta: { finish_reason: 'ERROR', error: 'worker died' } })
    const { failure } = assemble(decodeAll(cohereChat, [...stream.slice(0, 3), end]))
    expect(failure).toMatchObject({ kind: 'server', message: 'worker died' })
  })
})

test('a citation in a text with wide characters has the right position', () => {
  const text = '😀 It is 22C.'
  const reply = cohereChat.decodeReply(
    {
      message: {
        content: [{ type: 'text', text }],
        citations: [
          { start: 8, end: 12, text: '22C.', sources: [{ type: 'document', document: { url: 'https://a.b/c' } }] },
        ],
      },
      finish_reason: 'COMPLETE',
    },
    'seed',
  )
  const part = reply.choices[0]?.parts[0]
  const [citation] = part?.type === 'text' ? (part.citations ?? []) : []
  expect(citation?.url).toBe('https://a.b/c')
  expect(text.slice(citation?.start, citation?.end)).toBe('22C.')
})

describe.skipIf(!recordingsAvailable)('recordings of Cohere', () => {
  for (const entry of listCases({ provider: 'cohere', api: 'cohere-chat' })) {
    const recorded = loadCase(entry)
    if (entry.status >= 400) {
      test(`${entry.id} is an error with its status`, () => {
        const failure = cohereChat.decodeFailure(entry.status, recorded.responseJson)
        expect(failure.status).toBe(entry.status)
        expect(recorded.responseText).toContain(failure.message)
      })
      continue
    }
    test(`${entry.id} has the expected content`, () => {
      const { reply, ended } =
        entry.kind === 'sse'
          ? assemble(decodeAll(cohereChat, sseData(recorded)))
          : { reply: cohereChat.decodeReply(recorded.responseJson as JsonObject, 'seed'), ended: true }
      expect(ended).toBe(true)
      const [choice] = reply.choices
      expect(choice?.parts.length).toBeGreaterThan(0)
      expect(choice?.stop.reason).not.toBe('other')
      expect(reply.usage?.completionTokens).toBeGreaterThan(0)
      for (const part of choice?.parts ?? []) {
        if (part.type === 'tool-call') expect(() => JSON.parse(part.input) as unknown).not.toThrow()
        if (part.type !== 'text') continue
        for (const { start = 0, end = 0 } of part.citations ?? []) expect(part.text.slice(start, end)).not.toBe('')
      }
      const hasCitations = recorded.responseText.includes('TEXT_CONTENT')
      expect(choice?.parts.some((part) => part.type === 'text' && part.citations)).toBe(hasCitations)
    })
  }
})
