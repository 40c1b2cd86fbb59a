import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseCount, looseText } from '../neutral/fields.ts'

/** A non-streamed response as a chat completion. */
export function replyIn(wire: JsonObject): JsonObject {
  return {
    id: wire['id'],
    created: wire['created'],
    choices: [{ index: 0, message: messageIn(wire), finish_reason: reasonIn(wire) }],
    usage: usageIn(wire['usage']),
  }
}

/** An event of a stream as a chunk. Every event has a finish reason, but only the one in the last event is valid. */
export function chunkIn(event: JsonObject): JsonObject {
  const isEnd = event['is_end'] === true
  return {
    id: event['id'],
    created: event['created'],
    choices: [{ index: 0, delta: messageIn(event), finish_reason: isEnd ? reasonIn(event) : null }],
    usage: usageIn(event['usage']),
  }
}

function messageIn(wire: JsonObject): JsonObject {
  const called = wire['function_call']
  const content = looseText(wire['result'])
  if (!isObject(called) || !looseText(called['name'])) return { role: 'assistant', content }
  const { name, arguments: input, thoughts } = called
  // A call arrives complete, in a single event.
  const call = { index: 0, type: 'function', function: { name, arguments: input } }
  return {
    role: 'assistant',
    content,
    ...(looseText(thoughts) && { reasoning_content: thoughts }),
    tool_calls: [call],
  }
}

const reasons: Readonly<Record<string, string>> = {
  length: 'length',
  content_filter: 'content_filter',
  function_call: 'tool_calls',
}

function reasonIn(wire: JsonObject): string {
  // The service asks for the conversation to be cleared because it was unsafe.
  if (wire['need_clear_history'] === true) return 'content_filter'
  if (isObject(wire['function_call']) && looseText(wire['function_call']['name'])) return 'tool_calls'
  return reasons[looseText(wire['finish_reason'])] ?? (wire['is_truncated'] === true ? 'length' : 'stop')
}

/**
 * The completion tokens are the total minus the prompt tokens. They are not read from `completion_tokens`, because
 * older models report there only the tokens of the current event. The total of every model covers the whole answer so
 * far.
 */
function usageIn(usage: unknown): JsonObject | undefined {
  if (!isObject(usage)) return undefined
  const { prompt_tokens: prompt, total_tokens: total } = usage
  const completion = Math.max(looseCount(total) - looseCount(prompt), 0)
  return { prompt_tokens: prompt, completion_tokens: total === undefined ? usage['completion_tokens'] : completion }
}
