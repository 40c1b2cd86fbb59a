import type { JsonObject } from '../../../../server/lib/json.ts'
import { asksToStream, type Fake, halves, namedEvents, type Said, used } from './fake.ts'

const usage = { input_tokens: used.prompt, output_tokens: used.completion }
const reasonOf = ({ calls }: Said) => (calls.length > 0 ? 'tool_use' : 'end_turn')

/** Anthropic's Messages API. */
export const messagesFake: Fake = {
  streams: asksToStream,
  whole: (said) => ({ ...headOf(said), content: blocksOf(said), stop_reason: reasonOf(said), usage }),
  pieces: (said) => namedEvents(...anthropicEvents(said)),
  refusal: (status, message) => ({
    status,
    body: {
      type: 'error',
      error: { type: status === 429 ? 'rate_limit_error' : 'invalid_request_error', message },
      request_id: 'req_1',
    },
  }),
}

function headOf(said: Said): JsonObject {
  return {
    id: said.answerId ?? 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'served-model',
    stop_sequence: null,
  }
}

function blocksOf({ thought, text, calls, seal = 'c2VhbA==' }: Said): JsonObject[] {
  return [
    ...(thought === '' ? [] : [{ type: 'thinking', thinking: thought, signature: seal }]),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ]
}

/** The events of a stream, in order. */
export function anthropicEvents(said: Said): ({ type: string } & JsonObject)[] {
  const message = { ...headOf(said), content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  return [
    { type: 'message_start', message },
    ...blocksOf(said).flatMap(blockEvents),
    { type: 'message_delta', delta: { stop_reason: reasonOf(said), stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

function blockEvents(block: JsonObject, index: number): ({ type: string } & JsonObject)[] {
  const started = (content_block: JsonObject) => ({ type: 'content_block_start', index, content_block })
  const delta = (value: JsonObject) => ({ type: 'content_block_delta', index, delta: value })
  const stop = { type: 'content_block_stop', index }
  if (block['type'] === 'thinking') {
    const thoughts = halves(String(block['thinking'])).map((thinking) => delta({ type: 'thinking_delta', thinking }))
    const sealed = delta({ type: 'signature_delta', signature: block['signature'] })
    return [started({ type: 'thinking', thinking: '', signature: '' }), ...thoughts, sealed, stop]
  }
  if (block['type'] === 'text') {
    const texts = halves(String(block['text'])).map((text) => delta({ type: 'text_delta', text }))
    return [started({ type: 'text', text: '' }), ...texts, stop]
  }
  const json = halves(JSON.stringify(block['input']))
  const inputs = json.map((partial_json) => delta({ type: 'input_json_delta', partial_json }))
  return [started({ ...block, input: {} }), ...inputs, stop]
}
