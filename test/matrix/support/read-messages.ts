import { isObject, type JsonObject } from '../../../server/lib/json.ts'
import { price } from '../../sdk/support/prices.ts'
import { type End, nothing, parsedInput, type Recorded, type WireReader } from './learned.ts'
import { objects } from './read-chat.ts'

const ends: Readonly<Record<string, End>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  // With this reason, a classifier ended the answer, not the model.
  refusal: 'content-filter',
  pause_turn: 'pause',
}

/** Anthropic's Messages API. */
export const readMessages: WireReader = {
  whole(body) {
    const learned = nothing()
    for (const block of objects(body['content'])) {
      if (block['type'] === 'text') learned.text += String(block['text'])
      if (block['type'] === 'thinking') learned.thought += String(block['thinking'])
      if (block['type'] === 'tool_use')
        learned.calls.push({ id: String(block['id']), name: String(block['name']), input: block['input'] })
    }
    learned.end = ends[String(body['stop_reason'])] ?? 'other'
    if (isObject(body['usage'])) readUsage(body['usage'], learned)
    return learned
  },
  stream(data) {
    const learned = nothing()
    let usage: JsonObject = {}
    const inputs = new Map<unknown, { at: number; json: string }>()
    for (const event of data.map((each) => JSON.parse(each) as JsonObject)) {
      const { index, message, content_block: block, delta } = event
      if (isObject(message) && isObject(message['usage'])) usage = message['usage']
      if (isObject(event['usage'])) usage = { ...usage, ...known(event['usage']) }
      if (isObject(block)) {
        if (block['type'] === 'text') learned.text += String(block['text'] ?? '')
        if (block['type'] === 'tool_use') {
          inputs.set(index, { at: learned.calls.length, json: '' })
          learned.calls.push({ id: String(block['id']), name: String(block['name']), input: block['input'] })
        }
      }
      if (!isObject(delta)) continue
      if (delta['type'] === 'text_delta') learned.text += String(delta['text'])
      if (delta['type'] === 'thinking_delta') learned.thought += String(delta['thinking'])
      const input = inputs.get(index)
      if (delta['type'] === 'input_json_delta' && input) input.json += String(delta['partial_json'])
      if (typeof delta['stop_reason'] === 'string') learned.end = ends[delta['stop_reason']] ?? 'other'
    }
    for (const { at, json } of inputs.values()) {
      const call = learned.calls[at]
      if (call && json !== '') call.input = parsedInput(json)
    }
    readUsage(usage, learned)
    return learned
  },
}

function known(usage: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null))
}

const count = (value: unknown) => (typeof value === 'number' ? value : 0)

/** Cache reads and writes are counted separately from the input. */
function readUsage(usage: JsonObject, learned: Recorded): void {
  if (usage['input_tokens'] === undefined) return
  const kept = isObject(usage['cache_creation']) ? usage['cache_creation'] : {}
  const details = isObject(usage['output_tokens_details']) ? usage['output_tokens_details'] : {}
  const input = count(usage['input_tokens'])
  const completion = count(usage['output_tokens'])
  const cached = count(usage['cache_read_input_tokens'])
  const written = count(usage['cache_creation_input_tokens'])
  const hour = count(kept['ephemeral_1h_input_tokens'])
  const prompt = input + cached + written
  learned.usage = { prompt, completion, cached, reasoning: count(details['thinking_tokens']) }
  learned.quota =
    input * price.input +
    cached * price.cached +
    (written - hour) * price.cacheWrite +
    hour * price.cacheWrite +
    completion * price.output
}
