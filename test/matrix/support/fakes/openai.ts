import type { JsonObject } from '../../../../server/lib/json.ts'
import { asksToStream, events, type Fake, halves, namedEvents, type Said, type SaidCall, used } from './fake.ts'

const usage = {
  prompt_tokens: used.prompt,
  completion_tokens: used.completion,
  total_tokens: used.prompt + used.completion,
}

const refusal: Fake['refusal'] = (status, message) => ({
  status,
  body: {
    error: { message, type: status === 429 ? 'rate_limit_error' : 'invalid_request_error', param: null, code: null },
  },
})

const reasonOf = ({ calls }: Said) => (calls.length > 0 ? 'tool_calls' : 'stop')

/** OpenAI's chat completions. */
export const chatFake: Fake = {
  streams: asksToStream,
  whole: (said) => ({
    id: said.answerId ?? 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: 'served-model',
    choices: [{ index: 0, message: messageOf(said), logprobs: null, finish_reason: reasonOf(said) }],
    usage,
  }),
  pieces(said) {
    const chunk = (delta: JsonObject, reason: string | null = null) => ({
      id: said.answerId ?? 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model: 'served-model',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    })
    return events(
      chunk({ role: 'assistant', content: '' }),
      ...halves(said.thought).map((text) => chunk({ reasoning_content: text })),
      ...halves(said.text).map((text) => chunk({ content: text })),
      ...said.calls.flatMap(({ id, name, input }, index) => [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ...halves(JSON.stringify(input)).map((text) =>
          chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
        ),
      ]),
      chunk({}, reasonOf(said)),
      { ...chunk({}), choices: [], usage },
      '[DONE]',
    )
  },
  refusal,
}

function messageOf({ thought, text, calls }: Said): JsonObject {
  const made = calls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(thought !== '' && { reasoning_content: thought }),
    ...(made.length > 0 && { tool_calls: made }),
  }
}

/** OpenAI's Responses API. */
export const responsesFake: Fake = {
  streams: asksToStream,
  whole: (said) => responseOf(said),
  pieces(said) {
    const created = { ...responseOf(said), status: 'in_progress', output: [], usage: null }
    const steps = itemsOf(said).flatMap(({ item }, output_index) => eventsOf(item, output_index))
    const all = [
      { type: 'response.created', response: created },
      ...steps,
      { type: 'response.completed', response: responseOf(said) },
    ]
    return namedEvents(...all.map((event, sequence_number) => ({ ...event, sequence_number })))
  },
  refusal,
}

function responseOf(said: Said): JsonObject {
  return {
    id: said.answerId ?? 'resp_1',
    object: 'response',
    created_at: 1_760_000_000,
    status: 'completed',
    model: 'served-model',
    output: itemsOf(said).map(({ item }) => item),
    usage: {
      input_tokens: used.prompt,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: used.completion,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: used.prompt + used.completion,
    },
  }
}

function itemsOf({ thought, text, calls, seal }: Said): { item: JsonObject }[] {
  const reasoning = {
    id: 'rs_1',
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: thought }],
    ...(seal && { encrypted_content: seal }),
  }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
  return [
    ...(thought === '' ? [] : [{ item: reasoning }]),
    ...(text === '' ? [] : [{ item: message }]),
    ...calls.map((call) => ({ item: callItemOf(call) })),
  ]
}

function callItemOf({ id, name, input, freeText }: SaidCall): JsonObject {
  const call = { call_id: id, name, status: 'completed' }
  if (freeText !== undefined) return { id: `ctc_${id}`, type: 'custom_tool_call', ...call, input: freeText }
  return { id: `fc_${id}`, type: 'function_call', ...call, arguments: JSON.stringify(input) }
}

function eventsOf(item: JsonObject, output_index: number): ({ type: string } & JsonObject)[] {
  const at = { item_id: item['id'], output_index }
  const [part] = (item['content'] ?? item['summary'] ?? []) as JsonObject[]
  const text = String(part?.['text'] ?? '')
  const done = { type: 'response.output_item.done', output_index, item }
  if (item['type'] === 'function_call') {
    const input = String(item['arguments'])
    return [
      { type: 'response.output_item.added', output_index, item: { ...item, arguments: '', status: 'in_progress' } },
      ...halves(input).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
      { type: 'response.function_call_arguments.done', ...at, arguments: input },
      done,
    ]
  }
  if (item['type'] === 'custom_tool_call') {
    const input = String(item['input'])
    return [
      { type: 'response.output_item.added', output_index, item: { ...item, input: '', status: 'in_progress' } },
      ...halves(input).map((delta) => ({ type: 'response.custom_tool_call_input.delta', ...at, delta })),
      { type: 'response.custom_tool_call_input.done', ...at, input },
      done,
    ]
  }
  if (item['type'] === 'reasoning') {
    const place = { ...at, summary_index: 0 }
    return [
      { type: 'response.output_item.added', output_index, item: { ...item, summary: [] } },
      { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
      ...halves(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
      { type: 'response.reasoning_summary_text.done', ...place, text },
      { type: 'response.reasoning_summary_part.done', ...place, part },
      done,
    ]
  }
  const place = { ...at, content_index: 0 }
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, content: [], status: 'in_progress' } },
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    ...halves(text).map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
    { type: 'response.output_text.done', ...place, text },
    { type: 'response.content_part.done', ...place, part },
    done,
  ]
}
