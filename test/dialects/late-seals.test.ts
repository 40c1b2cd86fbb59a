import { describe, expect, test } from 'bun:test'
import type { Part, Seal } from '../../server/dialects/neutral/conversation.ts'
import type { StreamEvent } from '../../server/dialects/neutral/reply.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { assemble, dataOf, decodeAll, dialects, encodeAll, frameOf } from '../helpers/dialects.ts'

const { gemini } = dialects
const messages = dialects['anthropic-messages']
const responses = dialects['openai-responses']
const signature = 'CiQBc2VhbA=='
const seal: Seal = { from: 'gemini', value: signature }

const candidate = (parts: JsonObject[], rest: JsonObject = {}): JsonObject => ({
  responseId: 'r',
  candidates: [{ index: 0, content: { role: 'model', parts }, ...rest }],
})
const end = { finishReason: 'STOP' }
/** A reasoning part and a text from Gemini. The signature of the text arrives without text, as in Gemini's streams. */
const closingParts: JsonObject[] = [
  { text: 'Hm', thought: true },
  { text: 'Hel' },
  { text: 'lo' },
  { text: '', thoughtSignature: signature },
]
const closing = closingParts.map((part, at) => candidate([part], at === 3 ? end : {}))
const streamed = (chunks: readonly JsonObject[]) =>
  decodeAll(
    gemini,
    chunks.map((each) => JSON.stringify(each)),
  )
const blocksOf = (events: readonly StreamEvent[]) =>
  dataOf(encodeAll(messages, events, frameOf('anthropic-messages'))).flatMap((data) => {
    const { type, content_block: block } = JSON.parse(data) as JsonObject
    return type === 'content_block_start' && isObject(block) ? [block] : []
  })

describe('a signature that Gemini sends after its last text', () => {
  test('leaves the text as the last block of a Messages stream', () => {
    expect(blocksOf(streamed(closing)).map(({ type }) => type)).toEqual(['thinking', 'text'])
  })

  test('precedes the text in a response that is not streamed', () => {
    const wire = candidate(closingParts, end)
    const reply = messages.encodeReply(gemini.decodeReply(wire, 's'), frameOf('anthropic-messages'))
    const content = reply['content'] as JsonObject[]
    expect(content.at(-1)).toMatchObject({ type: 'text', text: 'lo' })
    expect(content.filter(({ type }) => type === 'redacted_thinking')).toHaveLength(1)
  })

  test('does not become a separate block if there is no text at all', () => {
    const alone = [
      candidate([{ text: 'Hm', thought: true }]),
      candidate([{ functionCall: { name: 'f', args: {} } }]),
      candidate([{ text: '', thoughtSignature: signature }], end),
    ]
    expect(blocksOf(streamed(alone)).map(({ type }) => type)).toEqual(['thinking', 'tool_use'])
    const wire = candidate([{ functionCall: { name: 'f', args: {} } }, { text: '', thoughtSignature: signature }], end)
    const reply = messages.encodeReply(gemini.decodeReply(wire, 's'), frameOf('anthropic-messages'))
    expect((reply['content'] as JsonObject[]).map(({ type }) => type)).toEqual(['tool_use'])
  })

  test('is sent back with that text through the Responses API, and not with the call after it', () => {
    const events: StreamEvent[] = [
      { type: 'start' },
      { type: 'part', choice: 0, index: 0, part: { type: 'text', text: '' } },
      { type: 'delta', choice: 0, index: 0, text: 'Hello' },
      { type: 'detail', choice: 0, index: 0, detail: { seal } },
      { type: 'part-end', choice: 0, index: 0 },
      { type: 'part', choice: 0, index: 1, part: { type: 'tool-call', id: 'a', name: 'f', input: '{}' } },
      { type: 'part-end', choice: 0, index: 1 },
      { type: 'stop', choice: 0, stop: { reason: 'tool-calls' } },
      { type: 'end' },
    ]
    const last = JSON.parse(
      dataOf(encodeAll(responses, events, frameOf('openai-responses'))).at(-1) ?? '',
    ) as JsonObject
    const { output } = last['response'] as { output: JsonObject[] }
    const input = [{ role: 'user', content: 'Hi' }, ...output]
    const { messages: turns } = responses.decodeRequest({ model: 'm', input })
    expect(turns[1]?.parts as Part[]).toMatchObject([
      { type: 'text', text: 'Hello', seal },
      { type: 'tool-call', id: 'a' },
    ])
    expect(turns[1]?.parts[1]).not.toHaveProperty('seal')
  })
})

test('a call’s signature that arrives after the call is sent back with that call', () => {
  const call = { type: 'tool-call', id: 'a', name: 'f', input: '{}' } as const
  const events: StreamEvent[] = [
    { type: 'start' },
    { type: 'part', choice: 0, index: 0, part: call },
    { type: 'detail', choice: 0, index: 0, detail: { seal } },
    { type: 'part-end', choice: 0, index: 0 },
    { type: 'part', choice: 0, index: 1, part: { ...call, id: 'b' } },
    { type: 'part-end', choice: 0, index: 1 },
    { type: 'stop', choice: 0, stop: { reason: 'tool-calls' } },
    { type: 'end' },
  ]
  const content = blocksOf(events)
  expect(content.map(({ type }) => type)).toEqual(['tool_use', 'redacted_thinking', 'tool_use'])
  const asked = { model: 'm', max_tokens: 9, messages: [{ role: 'assistant', content }] }
  const [turn] = messages.decodeRequest(asked).messages
  expect(turn?.parts as Part[]).toMatchObject([{ id: 'a', seal }, { id: 'b' }])
  expect(turn?.parts[1]).not.toHaveProperty('seal')
})

test('a text that turns out to be empty does not become a block in a Messages stream', () => {
  const events: StreamEvent[] = [
    { type: 'start' },
    { type: 'part', choice: 0, index: 0, part: { type: 'text', text: '' } },
    { type: 'part-end', choice: 0, index: 0 },
    { type: 'part', choice: 0, index: 1, part: { type: 'refusal', text: '' } },
    { type: 'part-end', choice: 0, index: 1 },
    { type: 'part', choice: 0, index: 2, part: { type: 'text', text: '' } },
    { type: 'delta', choice: 0, index: 2, text: 'Hello' },
    { type: 'part-end', choice: 0, index: 2 },
    { type: 'stop', choice: 0, stop: { reason: 'stop' } },
    { type: 'end' },
  ]
  const data = dataOf(encodeAll(messages, events, frameOf('anthropic-messages')))
  const { reply, ended } = assemble(decodeAll(messages, data))
  expect(ended).toBe(true)
  expect(reply.choices[0]?.parts).toEqual([{ type: 'text', text: 'Hello' }])
  expect(data.filter((each) => each.includes('"index":0'))).toHaveLength(3)
})
