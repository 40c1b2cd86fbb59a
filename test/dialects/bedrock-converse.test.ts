import { describe, expect, test } from 'bun:test'
import { bedrockConverse } from '../../server/dialects/bedrock-converse/index.ts'
import type { Conversation } from '../../server/dialects/neutral/conversation.ts'
import { converseRules } from '../../server/dialects/neutral/tool-rules.ts'
import { fitTools } from '../../server/dialects/wire/fit-tools.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { bedrock } from '../../server/providers/bedrock/index.ts'
import { awsFrame, converseFrame } from '../helpers/aws-frames.ts'
import { assemble, dataOf, decodeAll, dialects } from '../helpers/dialects.ts'
import { listCases, loadCase, type RecordingCase, recordingsAvailable } from '../helpers/recordings.ts'

const call = { mode: 'chat', path: '', model: 'm', stream: true } as const
const claude = 'anthropic.claude-3-7-sonnet-20250219-v1:0'

function chat(body: JsonObject, model = claude): Conversation {
  const hi = { messages: [{ role: 'user', content: 'Hi' }] }
  return dialects['openai-chat'].decodeRequest({ model, ...hi, ...body })
}

/** A conversation after the gateway has replaced the ids and names that Converse does not accept. */
const fitted = (conversation: Conversation) => fitTools(conversation, converseRules).conversation

/** The events that a dialect's endpoint decodes from the bytes of an event stream. */
async function eventsOf(bytes: Uint8Array, dialect = 'bedrock-converse', size = bytes.length): Promise<string[]> {
  const endpoint = bedrock
    .chat({ baseUrl: '', key: '', other: '', config: {} }, claude)
    .find((each) => each.dialect.name === dialect)
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
      controller.close()
    },
  })
  const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
  const read = endpoint?.read?.(new Response(body, { headers }), call)
  return dataOf((await read?.text()) ?? '')
}

describe('a request', () => {
  test('expresses everything that Converse supports', () => {
    const { body, dropped } = bedrockConverse.encodeRequest(
      fitted(
        chat({
          messages: [
            { role: 'system', content: 'Be brief.' },
            {
              role: 'user',
              content: [
                { type: 'text', text: 'What is this?' },
                { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
              ],
            },
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'call.1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
            },
            { role: 'tool', tool_call_id: 'call.1', content: 'a cat' },
            { role: 'user', content: 'Sure?' },
          ],
          tools: [
            {
              type: 'function',
              function: {
                name: 'look',
                description: 'Looks',
                parameters: { type: 'object', properties: { at: { type: 'number' } } },
              },
            },
          ],
          tool_choice: 'required',
          max_tokens: 50,
          temperature: 0.5,
          stop: ['END'],
          seed: 7,
          response_format: { type: 'json_schema', json_schema: { name: 'Answer', schema: { type: 'object' } } },
        }),
      ),
    )
    expect(body).toEqual({
      system: [{ text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ text: 'What is this?' }, { image: { format: 'png', source: { bytes: 'AAAA' } } }] },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'tgid_Y2FsbC4x', name: 'look', input: { at: 1 } } }] },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 'tgid_Y2FsbC4x', content: [{ text: 'a cat' }] } }, { text: 'Sure?' }],
        },
      ],
      inferenceConfig: { maxTokens: 50, temperature: 0.5, stopSequences: ['END'] },
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'look',
              description: 'Looks',
              inputSchema: { json: { type: 'object', properties: { at: { type: 'number' } } } },
            },
          },
        ],
        toolChoice: { any: {} },
      },
      outputConfig: {
        textFormat: { type: 'json_schema', structure: { jsonSchema: { name: 'Answer', schema: '{"type":"object"}' } } },
      },
    })
    expect(dropped).toEqual(['seed'])
  })

  test('enables thinking for each model family in its own format', () => {
    const fields = (model: string, limit = 30_000) =>
      bedrockConverse.encodeRequest(chat({ reasoning_effort: 'high', max_tokens: limit }, model)).body[
        'additionalModelRequestFields'
      ]
    expect(fields(claude)).toEqual({ thinking: { type: 'enabled', budget_tokens: 24_576 } })
    expect(fields(claude, 10_000)).toEqual({ thinking: { type: 'enabled', budget_tokens: 8000 } })
    const { body, dropped } = bedrockConverse.encodeRequest(chat({ reasoning_effort: 'high', max_tokens: 100 }, claude))
    expect(body['inferenceConfig']).toEqual({ maxTokens: 100 })
    expect([body['additionalModelRequestFields'], dropped]).toEqual([undefined, ['reasoning_effort']])
    expect(fields('us.anthropic.claude-opus-4-6-v1')).toEqual({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    })
    expect(fields('us.amazon.nova-2-lite-v1:0')).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' },
    })
    expect(fields('openai.gpt-oss-120b-1:0')).toEqual({ reasoning_effort: 'high' })
    expect(
      bedrockConverse.encodeRequest(chat({ reasoning_effort: 'high' }, 'meta.llama3-8b-instruct-v1:0')).dropped,
    ).toEqual(['reasoning_effort'])
  })

  test('keeps the cache breakpoints, signed reasoning and failed results of an Anthropic caller', () => {
    const { body } = bedrockConverse.encodeRequest(
      dialects['anthropic-messages'].decodeRequest({
        model: claude,
        max_tokens: 10,
        system: [{ type: 'text', text: 'Long', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        messages: [
          { role: 'user', content: 'Go' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'hm', signature: 'sig' },
              { type: 'tool_use', id: 't', name: 'f', input: {} },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'broke', is_error: true }] },
        ],
      }),
    )
    expect(body['system']).toEqual([{ text: 'Long' }, { cachePoint: { type: 'default', ttl: '1h' } }])
    expect(body['messages']).toEqual([
      { role: 'user', content: [{ text: 'Go' }] },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
          { toolUse: { toolUseId: 't', name: 'f', input: {} } },
        ],
      },
      { role: 'user', content: [{ toolResult: { toolUseId: 't', content: [{ text: 'broke' }], status: 'error' } }] },
    ])
    // The service requires the tools to be declared if the history contains calls.
    expect(body['toolConfig']).toEqual({
      tools: [{ toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }],
    })
  })

  test('an image URL is refused, because the service fetches none', () => {
    const image = { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }
    expect(() => bedrockConverse.encodeRequest(chat({ messages: [image] }))).toThrow('image by URL')
  })
})

describe('a stream', () => {
  const frames = [
    converseFrame('messageStart', { role: 'assistant', p: 'abc' }),
    converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'hm' } } }),
    converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'sig' } } }),
    converseFrame('contentBlockStop', { contentBlockIndex: 0 }),
    converseFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Hello' } }),
    converseFrame('contentBlockStop', { contentBlockIndex: 1 }),
    converseFrame('contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 't', name: 'f' } } }),
    converseFrame('contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '{"a":' } } }),
    converseFrame('contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '1}' } } }),
    converseFrame('contentBlockStop', { contentBlockIndex: 2 }),
    converseFrame('messageStop', { stopReason: 'tool_use' }),
    converseFrame('metadata', {
      usage: { inputTokens: 5, outputTokens: 7, totalTokens: 22, cacheReadInputTokens: 10 },
    }),
  ]

  test('is decoded completely, however its bytes are split', async () => {
    const bytes = Buffer.concat(frames)
    for (const size of [1, 3, 50, bytes.length]) {
      const { reply, ended } = assemble(decodeAll(bedrockConverse, await eventsOf(bytes, 'bedrock-converse', size)))
      expect(ended).toBe(true)
      expect(reply).toEqual({
        choices: [
          {
            parts: [
              { type: 'reasoning', text: 'hm', seal: { from: 'anthropic-messages', value: 'sig' } },
              { type: 'text', text: 'Hello' },
              { type: 'tool-call', id: 't', name: 'f', input: '{"a":1}' },
            ],
            stop: { reason: 'tool-calls' },
          },
        ],
        usage: { promptTokens: 15, completionTokens: 7, cachedTokens: 10 },
      })
    }
  })

  test('is incomplete if it ends at any frame before its stop', async () => {
    for (let count = 0; count < frames.length - 2; count++) {
      const { ended, failure } = assemble(
        decodeAll(bedrockConverse, await eventsOf(Buffer.concat(frames.slice(0, count)))),
      )
      expect(ended).toBe(false)
      expect(failure?.code).toBe('upstream_stream_incomplete')
    }
  })

  test('that contains an exception is reported as an error of the matching kind', async () => {
    const headers = { ':message-type': 'exception', ':exception-type': 'throttlingException' }
    const bytes = Buffer.concat([...frames.slice(0, 5), awsFrame(headers, '{"message":"Too many tokens"}')])
    const { failure } = assemble(decodeAll(bedrockConverse, await eventsOf(bytes)))
    expect(failure).toMatchObject({ status: 429, kind: 'rate-limit', message: 'Too many tokens' })
    const invoked = assemble(
      decodeAll(
        dialects['anthropic-messages'],
        await eventsOf(Buffer.from(awsFrame(headers, '{"message":"Too many tokens"}')), 'anthropic-messages'),
      ),
    )
    expect(invoked.failure).toMatchObject({ kind: 'rate-limit', message: 'Too many tokens' })
  })

  test('with a damaged frame is reported as an error', async () => {
    const bytes = Buffer.concat(frames)
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1
    const { failure, ended } = assemble(decodeAll(bedrockConverse, await eventsOf(bytes)))
    expect(ended).toBe(false)
    expect(failure?.message).toContain('cannot be read')
  })
})

describe('an error', () => {
  test('caused by a wrong clock says that the clock is wrong', () => {
    const failure = bedrockConverse.decodeFailure(403, {
      message: 'Signature expired: 20260101T000000Z is now earlier than 20260101T010000Z',
    })
    expect(failure.kind).toBe('authentication')
    expect(failure.message).toContain('the clock of this gateway may be wrong')
  })

  test('keeps its status', () => {
    expect(bedrockConverse.decodeFailure(424, { message: 'broke' })).toMatchObject({ status: 424, kind: 'server' })
    expect(
      bedrockConverse.decodeFailure(400, { __type: 'com.amazon#ValidationException', Message: 'no' }),
    ).toMatchObject({ status: 400, kind: 'invalid', message: 'no' })
  })
})

function cases(filter: Parameters<typeof listCases>[0]): RecordingCase[] {
  return listCases({ provider: 'bedrock', ...filter }).map(loadCase)
}

describe.skipIf(!recordingsAvailable)('recordings of Converse', () => {
  const json = cases({ api: 'converse', kind: 'json' })

  for (const recorded of json.filter(({ status }) => status === 200)) {
    test(`${recorded.id} has the expected content`, () => {
      const wire = recorded.responseJson as JsonObject
      const { choices, usage } = bedrockConverse.decodeReply(wire, 'seed')
      const text = JSON.stringify(wire)
      const parts = choices[0]?.parts ?? []
      expect(parts.length).toBeGreaterThan(0)
      const calls = [...text.matchAll(/"toolUseId":"([^"]+)"/g)].map(([, id]) => id)
      for (const part of parts) if (part.type === 'tool-call') expect(calls).toContain(part.id)
      const counts = wire['usage'] as Record<string, number>
      expect((usage?.promptTokens ?? 0) + (usage?.completionTokens ?? 0)).toBe(counts['totalTokens'] ?? 0)
      expect(choices[0]?.stop.reason).not.toBe('other')
    })
  }

  for (const recorded of json.filter(({ status }) => status >= 400)) {
    test(`${recorded.id} is an error with its status`, () => {
      const failure = bedrockConverse.decodeFailure(recorded.status, recorded.responseJson)
      expect(failure.status).toBe(recorded.status)
      expect(recorded.responseText).toContain(failure.message)
    })
  }

  for (const recorded of cases({ api: 'converse', kind: 'eventstream' })) {
    test(`${recorded.id} is decoded to the same answer however it is split`, async () => {
      const bytes = recorded.response.body
      const whole = assemble(decodeAll(bedrockConverse, await eventsOf(bytes)))
      const cut = assemble(decodeAll(bedrockConverse, await eventsOf(bytes, 'bedrock-converse', 7)))
      expect(whole.ended).toBe(true)
      expect(whole.reply.usage).toBeDefined()
      expect(cut).toEqual(whole)
    })
  }

  for (const recorded of cases({ api: 'invoke', kind: 'eventstream' }).filter(({ model }) =>
    /claude-(?:3|opus|sonnet)/.test(model ?? ''),
  )) {
    test(`${recorded.id} is a stream in Anthropic's format`, async () => {
      const { ended, reply } = assemble(
        decodeAll(dialects['anthropic-messages'], await eventsOf(recorded.response.body, 'anthropic-messages')),
      )
      expect(ended).toBe(true)
      expect(reply.usage?.completionTokens).toBeGreaterThan(0)
    })
  }
})
