import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'

/** A non-streamed response as a chat completion. */
export function replyIn(wire: JsonObject): JsonObject {
  const choices = choicesOf(wire).map((choice) => ({
    index: choice.index,
    message: { ...choice.message, ...(choice.index === 0 && sourcesIn(wire)) },
    logprobs: choice.logprobs,
    finish_reason: choice.reason ?? 'stop',
  }))
  return { id: wire['request_id'], choices, usage: usageIn(wire['usage']) }
}

/** A choice of a response or an event, in either of the service's formats. */
export interface RawChoice {
  readonly index: number
  readonly message: JsonObject
  /** Log probabilities, in OpenAI's form. */
  readonly logprobs?: unknown
  /** OpenAI's finish reason; undefined before the end. */
  readonly reason: string | undefined
}

/**
 * The choices of a response. In the format "message" a response has a list of choices. In the format "text" it has only
 * a text.
 */
export function choicesOf(wire: JsonObject): RawChoice[] {
  const output = looseObject(wire['output'])
  const choices = looseList(output['choices'])
  if (choices.length > 0)
    return choices.map((choice) => ({
      index: looseCount(choice['index']),
      message: messageIn(looseObject(choice['message'])),
      logprobs: choice['logprobs'],
      reason: reasonIn(choice['finish_reason']),
    }))
  // The research model has its own format. `fininshed_reason` is the service's spelling.
  const message = isObject(output['message']) ? output['message'] : undefined
  if (message) return [{ index: 0, message: messageIn(message), reason: reasonIn(output['fininshed_reason']) }]
  if (typeof output['text'] !== 'string') return []
  return [{ index: 0, message: { content: output['text'] }, reason: reasonIn(output['finish_reason']) }]
}

/** If there is no finish reason yet, the service may send the string "null". */
function reasonIn(reason: unknown): string | undefined {
  const text = looseText(reason)
  return text === '' || text === 'null' ? undefined : text
}

function messageIn(message: JsonObject): JsonObject {
  const { content, reasoning_content, tool_calls } = message
  const list = looseList(content)
  const images = list.filter((part) => looseText(part['image']))
  return {
    role: 'assistant',
    content: typeof content === 'string' ? content : list.map((part) => looseText(part['text'])).join(''),
    ...(looseText(reasoning_content) && { reasoning_content }),
    ...(looseList(tool_calls).length > 0 && { tool_calls }),
    ...(images.length > 0 && { images: images.map((part) => ({ image_url: { url: part['image'] } })) }),
  }
}

/** Search results as citations of the whole answer. */
export function sourcesIn(wire: JsonObject): JsonObject {
  const info = looseObject(looseObject(wire['output'])['search_info'])
  const annotations = looseList(info['search_results']).flatMap(({ url, title }) =>
    looseText(url) ? [{ type: 'url_citation', url_citation: { url, title } }] : [],
  )
  return annotations.length > 0 ? { annotations } : {}
}

/** The service's token counts in OpenAI's form. */
export function usageIn(usage: unknown): JsonObject | undefined {
  if (!isObject(usage)) return undefined
  const { input_tokens: prompt, output_tokens: completion } = usage
  if (prompt === undefined) return undefined
  const input = looseObject(usage['input_tokens_details'])
  const { cached_tokens, cache_creation_input_tokens, cache_creation } = looseObject(usage['prompt_tokens_details'])
  const cache = { cached_tokens: looseCount(cached_tokens), cache_creation_input_tokens, cache_creation }
  const reasoning = looseCount(looseObject(usage['output_tokens_details'])['reasoning_tokens'])
  const image = looseCount(input['image_tokens']) || looseCount(usage['image_tokens'])
  const audio = looseCount(input['audio_tokens']) || looseCount(usage['audio_tokens'])
  return {
    prompt_tokens: prompt,
    completion_tokens: completion ?? 0,
    ...(usage['total_tokens'] !== undefined && { total_tokens: usage['total_tokens'] }),
    prompt_tokens_details: { ...cache, image_tokens: image, audio_tokens: audio },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}
