// Clients generated from the published schemas reject an answer that lacks a required field, even a field that may be
// null.
import { describe, expect, test } from 'bun:test'
import { replyEvents } from '../../server/dialects/neutral/events-of-reply.ts'
import type { Reply } from '../../server/dialects/neutral/reply.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { dataOf, dialects, encodeAll, frameOf } from '../helpers/dialects.ts'

/** An answer with every kind of part that a caller can get. */
const rich: Reply = {
  choices: [
    {
      parts: [
        { type: 'reasoning', text: 'I think.', seal: { from: 'openai-chat', value: 'c2VhbA==' } },
        { type: 'reasoning', text: 'I think aloud.', full: true },
        {
          type: 'text',
          text: 'Hello there',
          citations: [{ url: 'https://example.com/', title: 'Example', start: 0, end: 5 }],
          logprobs: [{ token: 'Hello', logprob: -0.1 }],
        },
        { type: 'refusal', text: 'I would rather not.' },
        { type: 'media', media: 'image', source: { kind: 'inline', data: 'aGk=', mediaType: 'image/png' } },
        { type: 'tool-call', id: 'call_1', name: 'look', input: '{"at":"it"}' },
        { type: 'tool-call', id: 'call_2', name: 'patch', input: '{"input":"*** Begin"}' },
      ],
      stop: { reason: 'tool-calls' },
    },
  ],
  usage: { promptTokens: 12, completionTokens: 5 },
}

/** A truncated answer that has neither usage nor content. */
const bare: Reply = { choices: [{ parts: [], stop: { reason: 'length' } }] }

const request: Readonly<Record<'openai-responses' | 'anthropic-messages' | 'openai-chat', JsonObject>> = {
  'openai-responses': {
    tools: [{ type: 'function', name: 'look' }, { type: 'custom', name: 'patch' }, { type: 'web_search' }],
    reasoning: { effort: 'low' },
    text: { verbosity: 'low', format: { type: 'json_schema', name: 'answer', schema: {} } },
  },
  'anthropic-messages': { tools: [{ name: 'look', input_schema: { type: 'object' } }] },
  'openai-chat': {
    tools: [
      { type: 'function', function: { name: 'look' } },
      { type: 'custom', custom: { name: 'patch' } },
    ],
  },
}

/**
 * The required fields of each kind of object, by the object's `type` or `object`, or by the name of the field that
 * contains it.
 */
type Shapes = Readonly<Record<string, readonly string[]>>

/** Required fields according to the OpenAI API reference and the Open Responses specification. */
const responses: Shapes = {
  response: [
    ...['id', 'object', 'created_at', 'completed_at', 'status', 'incomplete_details', 'model', 'previous_response_id'],
    ...[
      'instructions',
      'output',
      'error',
      'tools',
      'tool_choice',
      'truncation',
      'parallel_tool_calls',
      'text',
      'top_p',
    ],
    ...[
      'presence_penalty',
      'frequency_penalty',
      'top_logprobs',
      'temperature',
      'reasoning',
      'usage',
      'max_output_tokens',
    ],
    ...['max_tool_calls', 'store', 'background', 'service_tier', 'metadata', 'safety_identifier', 'prompt_cache_key'],
    'access_programs',
  ],
  '.usage': ['input_tokens', 'input_tokens_details', 'output_tokens', 'output_tokens_details', 'total_tokens'],
  '.input_tokens_details': ['cached_tokens', 'cache_write_tokens'],
  '.output_tokens_details': ['reasoning_tokens'],
  '.reasoning': ['effort', 'summary'],
  '.text': ['format'],
  json_schema: ['name', 'description', 'schema', 'strict'],
  message: ['id', 'status', 'role', 'content'],
  output_text: ['text', 'annotations', 'logprobs'],
  refusal: ['refusal'],
  url_citation: ['url', 'title', 'start_index', 'end_index'],
  '.logprobs': ['token', 'logprob', 'bytes', 'top_logprobs'],
  reasoning: ['id', 'summary'],
  function_call: ['id', 'call_id', 'name', 'arguments', 'status'],
  custom_tool_call: ['id', 'call_id', 'name', 'input', 'status'],
  image_generation_call: ['id', 'status', 'result'],
  function: ['name', 'description', 'parameters', 'strict'],
  custom: ['name', 'format'],
  web_search: ['filters', 'search_context_size', 'user_location'],
  'response.created': ['sequence_number', 'response'],
  'response.in_progress': ['sequence_number', 'response'],
  'response.completed': ['sequence_number', 'response'],
  'response.incomplete': ['sequence_number', 'response'],
  'response.output_item.added': ['sequence_number', 'output_index', 'item'],
  'response.output_item.done': ['sequence_number', 'output_index', 'item'],
  'response.content_part.added': ['sequence_number', 'item_id', 'output_index', 'content_index', 'part'],
  'response.content_part.done': ['sequence_number', 'item_id', 'output_index', 'content_index', 'part'],
  'response.output_text.delta': ['sequence_number', 'item_id', 'output_index', 'content_index', 'delta', 'logprobs'],
  'response.output_text.done': ['sequence_number', 'item_id', 'output_index', 'content_index', 'text', 'logprobs'],
  'response.output_text.annotation.added': [
    ...['sequence_number', 'item_id', 'output_index', 'content_index', 'annotation_index', 'annotation'],
  ],
  'response.refusal.done': ['sequence_number', 'item_id', 'output_index', 'content_index', 'refusal'],
  'response.function_call_arguments.done': ['sequence_number', 'item_id', 'output_index', 'arguments'],
  'response.custom_tool_call_input.done': ['sequence_number', 'item_id', 'output_index', 'input'],
  'response.reasoning_summary_part.added': ['sequence_number', 'item_id', 'output_index', 'summary_index', 'part'],
  'response.reasoning_summary_part.done': ['sequence_number', 'item_id', 'output_index', 'summary_index', 'part'],
  'response.reasoning_summary_text.done': ['sequence_number', 'item_id', 'output_index', 'summary_index', 'text'],
  'response.reasoning_text.done': ['sequence_number', 'item_id', 'output_index', 'content_index', 'text'],
}

/** Required fields according to the Anthropic API reference. */
const messages: Shapes = {
  message: [
    ...['id', 'container', 'content', 'diagnostics', 'model', 'role', 'stop_details', 'stop_reason', 'stop_sequence'],
    'usage',
  ],
  '.usage': [
    ...['cache_creation_input_tokens', 'cache_read_input_tokens', 'input_tokens', 'output_tokens'],
    ...['output_tokens_details', 'server_tool_use'],
  ],
  'message.usage': ['cache_creation', 'inference_geo', 'service_tier', 'speed'],
  '.delta of message_delta': ['container', 'stop_details', 'stop_reason', 'stop_sequence'],
  text: ['text', 'citations'],
  tool_use: ['id', 'caller', 'input', 'name'],
  thinking: ['thinking', 'signature'],
  web_search_result_location: ['cited_text', 'encrypted_index', 'title', 'url'],
  content_block_start: ['index', 'content_block'],
  content_block_delta: ['index', 'delta'],
  content_block_stop: ['index'],
  message_delta: ['delta', 'usage'],
}

/** Required fields according to the OpenAI API reference, "Chat". */
const chat: Shapes = {
  'chat.completion': ['id', 'choices', 'created', 'model'],
  'chat.completion.chunk': ['id', 'choices', 'created', 'model'],
  '.choices': ['index', 'finish_reason', 'logprobs'],
  '.message': ['role', 'content', 'refusal'],
  '.usage': ['prompt_tokens', 'completion_tokens', 'total_tokens'],
  '.content of .logprobs': ['token', 'logprob', 'bytes', 'top_logprobs'],
  function: ['id', 'function'],
  custom: ['id', 'custom'],
  url_citation: ['url_citation'],
  '.url_citation': ['start_index', 'end_index', 'title', 'url'],
}

/** The fields missing anywhere in a value, each with its path. */
function missing(value: unknown, shapes: Shapes, names: readonly string[] = [], place = ''): string[] {
  if (Array.isArray(value))
    return (value as unknown[]).flatMap((each, at) => missing(each, shapes, names, `${place}[${at}]`))
  if (!isObject(value)) return []
  const kind = [value['type'], value['object']].find((each) => typeof each === 'string')
  const needed = [...names, ...(typeof kind === 'string' ? [kind] : [])].flatMap((name) => shapes[name] ?? [])
  const own = needed.filter((name) => value[name] === undefined).map((name) => `${place}.${name} of ${kind}`)
  const inner = Object.entries(value).flatMap(([name, each]) => {
    const outer = names.map((parent) => `.${name} of ${parent}`)
    const inKind = typeof kind === 'string' ? [`${kind}.${name}`, `.${name} of ${kind}`] : []
    return missing(each, shapes, [`.${name}`, ...outer, ...inKind], `${place}.${name}`)
  })
  return [...own, ...inner]
}

const callers = [
  ['openai-responses', responses],
  ['anthropic-messages', messages],
  ['openai-chat', chat],
] as const

describe.each(callers)('an answer for a caller of %s contains every field that its schema requires', (name, shapes) => {
  const frame = frameOf(name, request[name])
  test.each([
    ['whole', rich],
    ['truncated and empty', bare],
  ])('when it is %s', (_, reply) => {
    const wire: unknown = JSON.parse(JSON.stringify(dialects[name].encodeReply(reply, frame)))
    expect(missing(wire, shapes)).toEqual([])
    const events = dataOf(encodeAll(dialects[name], replyEvents(reply), frame)).filter((data) => data !== '[DONE]')
    expect(events.flatMap((data) => missing(JSON.parse(data), shapes))).toEqual([])
  })
})

test('a Responses API answer contains the service’s default values and its completion time', () => {
  const frame = { ...frameOf('openai-responses', request['openai-responses']), nowSeconds: () => 1_700_000_009 }
  const { encodeReply } = dialects['openai-responses']
  expect(encodeReply(rich, frame)).toMatchObject({
    completed_at: 1_700_000_009,
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    service_tier: 'default',
    safety_identifier: null,
    prompt_cache_key: null,
    reasoning: { effort: 'low', summary: null },
    tools: [{ name: 'look', description: null, strict: false }, { name: 'patch' }, { type: 'web_search' }],
  })
  expect(encodeReply(bare, frame)).toMatchObject({ status: 'incomplete', completed_at: null })
  const events = dataOf(encodeAll(dialects['openai-responses'], replyEvents(rich), frame))
  expect(events.map((data) => (JSON.parse(data) as { response?: JsonObject }).response?.['completed_at'])).toEqual([
    null,
    null,
    ...Array.from({ length: events.length - 3 }, () => undefined),
    1_700_000_009,
  ])
})

test('a Responses API answer repeats the settings of its request', () => {
  const asked = {
    temperature: 0.2,
    top_p: 0.5,
    presence_penalty: 0.1,
    frequency_penalty: 0.3,
    top_logprobs: 2,
    prompt_cache_key: 'k',
    prompt_cache_retention: '24h',
    safety_identifier: 'someone',
    reasoning: { effort: 'high', summary: 'auto' },
    text: { format: { type: 'text' }, verbosity: 'low' },
  }
  expect(dialects['openai-responses'].encodeReply(bare, frameOf('openai-responses', asked))).toMatchObject(asked)
  const verbose = frameOf('openai-responses', { text: { verbosity: 'low' } })
  expect(dialects['openai-responses'].encodeReply(bare, verbose)).toMatchObject({
    text: { format: { type: 'text' }, verbosity: 'low' },
  })
})

test('a phase that arrived with a Responses API message stays with that message', () => {
  const { decodeReply, encodeReply } = dialects['openai-responses']
  const content = [{ type: 'output_text', text: 'Wait.', annotations: [] }]
  const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', phase: 'commentary', content }
  const reply = decodeReply({ status: 'completed', output: [item] }, 'seed')
  expect(encodeReply(reply, frameOf('openai-responses'))['output']).toMatchObject([{ phase: 'commentary' }])
})

test('fields that an answer’s text block has besides its text are not reported as dropped when an Anthropic caller sends the block back', () => {
  const answer = dialects['anthropic-messages'].encodeReply(rich, frameOf('anthropic-messages'))
  const body = {
    model: 'm',
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: answer['content'] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'It.' }] },
    ],
  }
  const conversation = dialects['anthropic-messages'].decodeRequest(body)
  const { dropped } = dialects.gemini.encodeRequest(conversation)
  expect(dropped).toEqual(['messages.thinking'])
})
