import { describe, expect, test } from 'bun:test'
import { ollamaChat } from '../../server/dialects/ollama-chat/index.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { assemble, decodeAll, dialects } from '../helpers/dialects.ts'
import { listCases, loadCase, recordingsAvailable } from '../helpers/recordings.ts'

const encode = (body: JsonObject) =>
  ollamaChat.encodeRequest(
    dialects['openai-chat'].decodeRequest({ model: 'qwen3', messages: [{ role: 'user', content: 'Hi' }], ...body }),
  )

describe('a request', () => {
  test('contains tools, results, images and options in Ollama’s format', () => {
    const { body, dropped } = encode({
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"x":1}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'a cat' },
      ],
      tools: [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }],
      tool_choice: 'required',
      max_tokens: 50,
      temperature: 0,
      stop: ['END'],
      reasoning_effort: 'none',
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
      num_ctx: 8192,
    })
    expect(body).toEqual({
      model: 'qwen3',
      stream: false,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What?', images: ['AAAA'] },
        { role: 'assistant', content: '', tool_calls: [{ id: 'a', function: { name: 'look', arguments: { x: 1 } } }] },
        { role: 'tool', content: 'a cat', tool_name: 'look', tool_call_id: 'a' },
      ],
      tools: [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }],
      format: { type: 'object' },
      options: { num_predict: 50, temperature: 0, stop: ['END'], num_ctx: 8192 },
      think: false,
    })
    expect(dropped).toEqual(['tool_choice'])
  })

  test('sets a thinking level for OpenAI’s open-weight models', () => {
    expect(encode({ model: 'gpt-oss:20b', reasoning_effort: 'high' }).body['think']).toBe('high')
    expect(encode({ reasoning_effort: 'high' }).body['think']).toBe(true)
  })
})

const stream = [
  { model: 'q', created_at: '2026-01-01T00:00:00Z', message: { role: 'assistant', content: '', thinking: 'hm' } },
  { model: 'q', message: { role: 'assistant', content: 'Let' } },
  { model: 'q', message: { role: 'assistant', content: ' me' } },
  {
    model: 'q',
    message: { role: 'assistant', content: '', tool_calls: [{ function: { name: 'f', arguments: { x: 1 } } }] },
  },
  {
    model: 'q',
    message: { role: 'assistant', content: '' },
    done: true,
    done_reason: 'stop',
    prompt_eval_count: 3,
    eval_count: 4,
  },
].map((each) => JSON.stringify(each))

describe('a stream', () => {
  test('that contains a reasoning part, a text and a tool call is decoded completely', () => {
    const { reply, ended } = assemble(decodeAll(ollamaChat, stream))
    expect(ended).toBe(true)
    expect(reply).toEqual({
      model: 'q',
      createdAtSeconds: 1_767_225_600,
      choices: [
        {
          parts: [
            { type: 'reasoning', text: 'hm' },
            { type: 'text', text: 'Let me' },
            { type: 'tool-call', id: 'call_seed_0', name: 'f', input: '{"x":1}' },
          ],
          stop: { reason: 'tool-calls' },
        },
      ],
      usage: { promptTokens: 3, completionTokens: 4 },
    })
  })

  test('that ends anywhere before its last event is incomplete', () => {
    for (let count = 0; count < stream.length; count++)
      expect(assemble(decodeAll(ollamaChat, stream.slice(0, count))).failure?.code).toBe('upstream_stream_incomplete')
  })

  test.each([
    ['no count of the prompt', { eval_count: 4 }],
    ['a negative count of the response', { prompt_eval_count: 3, eval_count: -1 }],
    ['a count that is not a number', { prompt_eval_count: '3', eval_count: 4 }],
  ])('with %s has no usage', (_, counts) => {
    const last = JSON.stringify({ model: 'q', message: { role: 'assistant', content: '' }, done: true, ...counts })
    const { reply, ended } = assemble(decodeAll(ollamaChat, [...stream.slice(0, -1), last]))
    expect(ended).toBe(true)
    expect(reply.usage).toBeUndefined()
  })

  test('that contains an error is reported as an error', () => {
    const { failure } = assemble(decodeAll(ollamaChat, [...stream.slice(0, 2), '{"error":"runner died"}']))
    expect(failure?.message).toBe('runner died')
  })
})

test('a response with an error in its body is an error even with status 200', () => {
  expect(ollamaChat.failureWithin?.({ error: 'no' })).toMatchObject({ status: 502, message: 'no' })
  expect(ollamaChat.failureWithin?.({ message: { content: 'x' }, done: true })).toBeUndefined()
})

describe.skipIf(!recordingsAvailable)('recordings of Ollama', () => {
  for (const entry of listCases({ provider: 'ollama', api: 'ollama-chat' })) {
    const recorded = loadCase(entry)
    if (entry.status >= 400) {
      test(`${entry.id} is an error with its status`, () => {
        const failure = ollamaChat.decodeFailure(entry.status, recorded.responseJson)
        expect(failure.status).toBe(entry.status)
        expect(recorded.responseText).toContain(failure.message)
      })
      continue
    }
    test(`${entry.id} has the expected content`, () => {
      const lines = recorded.responseText.split('\n').filter((line) => line.trim() !== '')
      const { reply, ended } =
        entry.kind === 'ndjson'
          ? assemble(decodeAll(ollamaChat, lines))
          : { reply: ollamaChat.decodeReply(recorded.responseJson as JsonObject, 'seed'), ended: true }
      expect(ended).toBe(true)
      const parts = reply.choices[0]?.parts ?? []
      const messages = (
        entry.kind === 'ndjson'
          ? lines.map((line) => JSON.parse(line) as JsonObject)
          : [recorded.responseJson as JsonObject]
      ).map(({ message }) => (isObject(message) ? message : {}))
      const said = (name: string) =>
        messages.map((message) => (typeof message[name] === 'string' ? message[name] : '')).join('')
      expect(parts.map((part) => (part.type === 'text' ? part.text : '')).join('')).toBe(said('content'))
      expect(parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')).toBe(said('thinking'))
      const calls = messages.flatMap(({ tool_calls: list }) => (Array.isArray(list) ? (list as unknown[]) : []))
      expect(parts.filter(({ type }) => type === 'tool-call')).toHaveLength(calls.length)
      expect(reply.choices[0]?.stop.reason === 'tool-calls').toBe(calls.length > 0)
    })
  }
})
