import { isObject, type JsonObject } from '../../../server/lib/json.ts'
import { expectedCharge } from '../../sdk/support/prices.ts'
import { nothing, parsedInput, type Recorded, type WireReader } from './learned.ts'
import { objects } from './read-chat.ts'

/**
 * OpenAI's Responses API. The last event of a stream contains the complete answer. Only the text is read from the other
 * events.
 */
export const readResponses: WireReader = {
  whole: readAnswer,
  stream(data) {
    const events = data.filter((each) => each !== '[DONE]' && each !== '').map((each) => JSON.parse(each) as JsonObject)
    const last = events.findLast(({ type }) => type === 'response.completed' || type === 'response.incomplete')
    const answer = isObject(last?.['response']) ? last['response'] : {}
    const learned = readAnswer({ ...answer, output: itemsOf(events, answer) })
    return learned
  },
}

/** Some services leave the output of the last event empty. The items of the earlier events are then used. */
function itemsOf(events: readonly JsonObject[], answer: JsonObject): unknown {
  if (objects(answer['output']).length > 0) return answer['output']
  return events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
}

function readAnswer(answer: JsonObject): Recorded {
  const learned = nothing()
  const items = objects(answer['output'])
  for (const item of items) {
    if (item['type'] === 'message')
      for (const part of objects(item['content'])) learned.text += String(part['text'] ?? part['refusal'] ?? '')
    if (item['type'] === 'reasoning') {
      const parts = [...objects(item['summary']), ...objects(item['content'])]
      learned.thought += parts.map((part) => String(part['text'] ?? '')).join('\n\n')
    }
    if (item['type'] === 'function_call')
      learned.calls.push({
        id: String(item['call_id']),
        name: String(item['name']),
        input: parsedInput(String(item['arguments'])),
      })
    if (item['type'] === 'custom_tool_call')
      learned.calls.push({ id: String(item['call_id']), name: String(item['name']), input: item['input'] })
  }
  const details = answer['incomplete_details']
  const reason = isObject(details) ? details['reason'] : undefined
  if (reason === 'max_output_tokens') learned.end = 'length'
  else if (reason === 'content_filter') learned.end = 'content-filter'
  else if (items.some((item) => objects(item['content']).some(({ type }) => type === 'refusal')))
    learned.end = 'refusal'
  else learned.end = learned.calls.length > 0 ? 'tool-calls' : 'stop'
  if (isObject(answer['usage'])) {
    const { prompt, completion, cached, reasoning, quota } = expectedCharge(answer['usage'])
    learned.usage = { prompt, completion, cached, reasoning }
    // OpenAI's flex tier costs half.
    learned.quota = quota !== undefined && answer['service_tier'] === 'flex' ? Math.ceil(quota / 2) : quota
  }
  return learned
}
