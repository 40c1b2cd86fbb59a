import { describe, expect, test } from 'bun:test'
import { collected, cozeChat } from '../../server/dialects/coze/index.ts'
import { DecodingMeter } from '../../server/dialects/metering/decoding-meter.ts'
import type { UpstreamDialect } from '../../server/dialects/neutral/dialect.ts'
import type { ReplyPart } from '../../server/dialects/neutral/reply.ts'
import { OpenAiStreamMeter } from '../../server/dialects/openai-passthrough/stream.ts'
import { TypedEventMeter } from '../../server/dialects/openai-passthrough/typed-stream.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { assemble, decodeAll, dialects } from '../helpers/dialects.ts'

const written = (events: readonly JsonObject[]) => events.map((each) => JSON.stringify(each))
const hello: ReplyPart = { type: 'text', text: 'Hello' }
const theCall: ReplyPart = { type: 'tool-call', id: 'a', name: 'look', input: '{"path":"/tmp"}' }

const chunk = (choice: JsonObject): JsonObject => ({ id: 'c', model: 'up', choices: [{ index: 0, ...choice }] })
const spoken = (content: string) => chunk({ delta: { content } })
const toolCalls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"path":"/tmp"}' } }]

const start = { type: 'message_start', message: { id: 'msg_1', model: 'up', content: [], usage: { input_tokens: 3 } } }
const ends = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const block = (type: 'start' | 'stop', index: number, content_block?: JsonObject): JsonObject => ({
  type: `content_block_${type}`,
  index,
  ...(content_block && { content_block }),
})
const blockDelta = (index: number, delta: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta })
const use = (input: JsonObject): JsonObject => ({ type: 'tool_use', id: 'a', name: 'look', input })
const piece = (partial_json: string) => ({ type: 'input_json_delta', partial_json })

const gemini = (parts: JsonObject[], rest: JsonObject = {}): JsonObject => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...rest }],
})

const streams: readonly (readonly [string, UpstreamDialect, readonly JsonObject[], readonly ReplyPart[]])[] = [
  [
    'chat: a message in the last chunk and no deltas',
    dialects['openai-chat'],
    [chunk({ message: { role: 'assistant', content: 'Hello', tool_calls: toolCalls }, finish_reason: 'tool_calls' })],
    [hello, theCall],
  ],
  [
    'chat: deltas that the message of the last chunk repeats (MiniMax)',
    dialects['openai-chat'],
    [
      spoken('Hel'),
      spoken('lo'),
      chunk({ delta: { tool_calls: [{ index: 0, ...toolCalls[0] }] } }),
      chunk({ message: { role: 'assistant', content: 'Hello', tool_calls: toolCalls }, finish_reason: 'stop' }),
    ],
    [hello, theCall],
  ],
  [
    'chat: a growing message beside the delta in every chunk (Perplexity)',
    dialects['openai-chat'],
    [
      chunk({ delta: { content: 'Hel' }, message: { content: 'Hel' } }),
      chunk({ delta: { content: 'lo' }, message: { content: 'Hello' } }),
      chunk({ delta: { content: '' }, message: { content: 'Hello' }, finish_reason: 'stop' }),
    ],
    [hello],
  ],
  [
    'chat: pieces of a message instead of deltas',
    dialects['openai-chat'],
    [
      chunk({ message: { content: 'Hel' } }),
      chunk({ message: { content: 'lo' } }),
      chunk({ message: { content: '' }, finish_reason: 'stop' }),
    ],
    [hello],
  ],
  [
    'chat: half of the content in deltas, all of it in the message',
    dialects['openai-chat'],
    [
      spoken('Hel'),
      chunk({
        delta: {
          tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '{"path"' } }],
        },
      }),
      chunk({ delta: {}, message: { content: 'Hello', tool_calls: toolCalls }, finish_reason: 'tool_calls' }),
    ],
    [{ type: 'text', text: 'Hel' }, theCall, { type: 'text', text: 'lo' }],
  ],
  [
    'chat: thoughts and a refusal only in the message',
    dialects['openai-chat'],
    [chunk({ message: { reasoning_content: 'Hm', content: null, refusal: 'No.' }, finish_reason: 'stop' })],
    [
      { type: 'reasoning', text: 'Hm' },
      { type: 'refusal', text: 'No.' },
    ],
  ],
  [
    'chat: a message and the end marker, without a finish reason',
    dialects['openai-chat'],
    [chunk({ message: { content: 'Hello' } })],
    [hello],
  ],
  [
    'Messages: a call that begins with its complete input',
    dialects['anthropic-messages'],
    [start, block('start', 0, use({ path: '/tmp' })), block('stop', 0), ...ends],
    [theCall],
  ],
  [
    'Messages: a call that begins with its complete input, which the deltas repeat',
    dialects['anthropic-messages'],
    [
      start,
      block('start', 0, use({ path: '/tmp' })),
      blockDelta(0, piece('{"path":')),
      blockDelta(0, piece('"/tmp"}')),
      block('stop', 0),
      ...ends,
    ],
    [theCall],
  ],
  [
    'Messages: blocks that are complete only in their stop event',
    dialects['anthropic-messages'],
    [
      start,
      block('start', 0, { type: 'text', text: '' }),
      blockDelta(0, { type: 'text_delta', text: 'Hel' }),
      block('stop', 0, { type: 'text', text: 'Hello' }),
      block('start', 1, use({})),
      block('stop', 1, use({ path: '/tmp' })),
      ...ends,
    ],
    [hello, theCall],
  ],
  [
    'Messages: content only in message_start',
    dialects['anthropic-messages'],
    [
      { ...start, message: { ...start.message, content: [{ type: 'text', text: 'Hello' }, use({ path: '/tmp' })] } },
      ...ends,
    ],
    [hello, theCall],
  ],
  [
    'Messages: content in message_start that the blocks repeat',
    dialects['anthropic-messages'],
    [
      { ...start, message: { ...start.message, content: [{ type: 'text', text: 'Hello' }] } },
      block('start', 0, { type: 'text', text: '' }),
      blockDelta(0, { type: 'text_delta', text: 'Hello' }),
      block('stop', 0),
      ...ends,
    ],
    [hello],
  ],
  [
    'Messages: content only in the last event',
    dialects['anthropic-messages'],
    [start, ends[0] ?? {}, { type: 'message_stop', message: { content: [{ type: 'text', text: 'Hello' }] } }],
    [hello],
  ],
  [
    'Messages: deltas without the start and stop of their block',
    dialects['anthropic-messages'],
    [
      start,
      blockDelta(0, { type: 'text_delta', text: 'Hel' }),
      blockDelta(0, { type: 'text_delta', text: 'lo' }),
      ...ends,
    ],
    [hello],
  ],
  [
    'Gemini: text after the finish reason',
    dialects.gemini,
    [gemini([{ text: 'Hel' }], { finishReason: 'STOP' }), gemini([{ text: 'lo' }])],
    [
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
    ],
  ],
  [
    'Gemini: a call that announces a continuation and does not continue',
    dialects.gemini,
    [
      gemini([
        {
          functionCall: {
            id: 'a',
            name: 'look',
            willContinue: true,
            partialArgs: [{ jsonPath: '$.path', stringValue: '/tmp' }],
          },
        },
      ]),
      gemini([], { finishReason: 'STOP' }),
    ],
    [theCall],
  ],
  [
    'Coze: an answer that arrives in one event',
    cozeChat,
    [
      { event: 'conversation.message.completed', data: { type: 'answer', content: 'Hello', chat_id: 'c' } },
      { event: 'conversation.message.completed', data: { type: 'follow_up', content: 'More?', chat_id: 'c' } },
      { event: 'conversation.chat.completed', data: { id: 'c', usage: { input_count: 3, output_count: 2 } } },
    ],
    [hello],
  ],
  [
    'Coze: an answer that arrives in pieces and is repeated completely at the end',
    cozeChat,
    [
      { event: 'conversation.message.delta', data: { type: 'answer', content: 'Hel', chat_id: 'c' } },
      { event: 'conversation.message.delta', data: { type: 'answer', content: 'lo', chat_id: 'c' } },
      { event: 'conversation.message.completed', data: { type: 'answer', content: 'Hello', chat_id: 'c' } },
      { event: 'conversation.chat.completed', data: { id: 'c', usage: { input_count: 3, output_count: 2 } } },
    ],
    [hello],
  ],
]

describe('content that appears only in an event at the end of a stream is sent once', () => {
  for (const [title, dialect, events, parts] of streams) {
    test(title, () => {
      const data = [...written(events), ...(dialect === dialects['openai-chat'] ? ['[DONE]'] : [])]
      const { reply, ended, failure } = assemble(decodeAll(dialect, data))
      expect(failure).toBe(undefined)
      expect(ended).toBe(true)
      expect(reply.choices[0]?.parts).toEqual(parts as ReplyPart[])
      const meter = new DecodingMeter(dialect, 'seed')
      for (const each of data) meter.feed(each)
      expect(meter.output().length).toBe(parts.map(lengthOf).reduce((sum, each) => sum + each, 0))
    })
  }
})

function lengthOf(part: ReplyPart): number {
  if (part.type === 'tool-call') return part.name.length + part.input.length
  return 'text' in part ? (part.text ?? '').length : 0
}

describe('the charge for an OpenAI chat stream that is passed on unchanged', () => {
  const count = (events: readonly JsonObject[]) => {
    const meter = new OpenAiStreamMeter()
    for (const each of written(events)) meter.feed(each)
    return meter.output()
  }
  test('counts a message that appears only in the last chunk', () => {
    expect(count([chunk({ message: { content: 'Hello', tool_calls: toolCalls }, finish_reason: 'stop' })])).toBe(
      'Hellolook{"path":"/tmp"}',
    )
  })
  test('counts the part of the message that the deltas did not contain', () => {
    expect(count([spoken('Hel'), chunk({ message: { content: 'Hello' }, finish_reason: 'stop' })])).toBe('Hello')
  })
  test('counts nothing twice', () => {
    expect(count([spoken('Hello'), chunk({ delta: {}, message: { content: 'Hello' }, finish_reason: 'stop' })])).toBe(
      'Hello',
    )
  })
})

test('a transcript that appears only in the last event is counted, and one that the last event repeats is counted once', () => {
  const done = { type: 'transcript.text.done', text: 'Hello there' }
  for (const before of [
    [],
    [{ type: 'transcript.text.delta', delta: 'Hello' }],
    [{ type: 'transcript.text.delta', delta: 'Hello there' }],
  ]) {
    const meter = new TypedEventMeter()
    for (const each of written([...before, done])) meter.feed(each)
    expect(meter.output()).toBe('Hello there')
    expect(meter.characters).toBe(11)
  }
})

test('a Coze answer collected from a stream is complete, whether it arrived in pieces or all at once', () => {
  const end = { event: 'conversation.chat.completed', data: { id: 'c' } }
  const told = (name: string, content: string) => ({
    event: `conversation.message.${name}`,
    data: { type: 'answer', content },
  })
  for (const events of [
    [told('completed', 'Hello'), end],
    [told('delta', 'Hel'), told('delta', 'lo'), told('completed', 'Hello'), end],
    [told('delta', 'Hel'), told('delta', 'lo'), end],
  ])
    expect(collected(written(events))['content']).toBe('Hello')
})
