// Services that refuse, in their own formats, for the tests of virtual models.
import * as fake from '../helpers/fake-upstream.ts'
import type { CallerName } from './setup.ts'

/** The text of a stream of events. */
export const sse = (events: readonly (object | string)[]) =>
  events.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join('')
/** A service that responds with a stream of these events. */
export const streaming = (events: readonly (object | string)[]) =>
  fake.behaviour('streams', async (exchange) => {
    exchange.head(200, [['content-type', 'text/event-stream']])
    await exchange.write(sse(events))
    exchange.end()
  })
/** A service that responds with this body. */
export const whole = (body: object) =>
  fake.behaviour('responds', async (exchange) => {
    exchange.head(200, [['content-type', 'application/json']])
    await exchange.write(JSON.stringify(body))
    exchange.end()
  })

/** One chunk of OpenAI's chat. */
export const chunk = (delta: object, reason: string | null = null) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', model: 'm' },
  choices: [{ index: 0, delta, finish_reason: reason }],
})
/** The usage of every response. */
export const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
/** A service that streams these chunks, with a beginning and an end. */
export const chatStream = (...chunks: object[]) =>
  streaming([chunk({ role: 'assistant', content: '' }), ...chunks, { ...chunk({}), choices: [], usage }, '[DONE]'])
/** A service that answers. */
export const fine = chatStream(chunk({ content: 'Fine.' }), chunk({}, 'stop'))
/** A refusal in three chunks. */
export const refusalChunks = [chunk({ refusal: 'No, ' }), chunk({ refusal: 'I will not.' }), chunk({}, 'stop')]

/** The first event of Claude's streams. */
const claudeStart = {
  type: 'message_start',
  message: {
    ...{ id: 'x', type: 'message', role: 'assistant', content: [], model: 'm' },
    usage: { input_tokens: 10, output_tokens: 1 },
  },
}
/** Reasoning of Claude. */
const thoughts = [
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Shall I?' } },
  { type: 'content_block_stop', index: 0 },
]
const claudeEnd = [
  { type: 'message_delta', delta: { stop_reason: 'refusal', stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]
const geminiUsage = { promptTokenCount: 10, candidatesTokenCount: 0, totalTokenCount: 10 }
const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: geminiUsage }
const emptied = { candidates: [{ index: 0, finishReason: 'SAFETY' }], usageMetadata: geminiUsage }

const responseOf = (fields: object) => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [], usage: null },
  ...fields,
})
const refusalItem = {
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
  content: [{ type: 'refusal', refusal: 'No.' }],
}
const responsesUsage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
const refusingResponse = responseOf({ status: 'completed', output: [refusalItem], usage: responsesUsage })
const at = { output_index: 0, content_index: 0, item_id: 'msg_1' }
const responseEvents = [
  { type: 'response.created', response: responseOf({ status: 'in_progress' }) },
  { type: 'response.output_item.added', output_index: 0, item: { ...refusalItem, content: [], status: 'in_progress' } },
  { type: 'response.content_part.added', ...at, part: { type: 'refusal', refusal: '' } },
  { type: 'response.refusal.delta', ...at, delta: 'No.' },
  { type: 'response.refusal.done', ...at, refusal: 'No.' },
  { type: 'response.output_item.done', output_index: 0, item: refusalItem },
  { type: 'response.completed', response: refusingResponse },
]
const filteredResponse = responseOf({
  ...{ status: 'incomplete', incomplete_details: { reason: 'content_filter' }, usage: responsesUsage },
})
const filteredEvents = [
  { type: 'response.created', response: responseOf({ status: 'in_progress' }) },
  { type: 'response.incomplete', response: filteredResponse },
]

/**
 * Services that refuse: the channel type, the failure, the refusal as a stream, the same refusal as a whole response,
 * and the callers with which it is tested.
 */
export const refusals: readonly (readonly [
  name: string,
  type: number,
  failure: 'refusal' | 'content_filter',
  stream: fake.Behaviour,
  whole: fake.Behaviour,
  only?: CallerName,
])[] = [
  [
    'a refusal in chat',
    28,
    'refusal',
    chatStream(...refusalChunks),
    whole({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', usage },
      choices: [{ index: 0, message: { role: 'assistant', content: null, refusal: 'No.' }, finish_reason: 'stop' }],
    }),
  ],
  [
    'a filter in chat, after a thought',
    28,
    'content_filter',
    chatStream(chunk({ reasoning_content: 'Hm.' }), chunk({}, 'content_filter')),
    whole({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', usage },
      choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'content_filter' }],
    }),
  ],
  [
    "Claude's refusal, after a thought",
    14,
    'refusal',
    streaming([claudeStart, ...thoughts, ...claudeEnd]),
    whole({ ...claudeStart.message, stop_reason: 'refusal', usage: { input_tokens: 10, output_tokens: 5 } }),
  ],
  ["Gemini's blocked prompt", 24, 'content_filter', streaming([blocked]), whole(blocked)],
  ["Gemini's SAFETY", 24, 'content_filter', streaming([emptied]), whole(emptied)],
  ['a refusal in a response', 1, 'refusal', streaming(responseEvents), whole(refusingResponse), 'responses'],
  ['a filtered response', 1, 'content_filter', streaming(filteredEvents), whole(filteredResponse), 'responses'],
]
