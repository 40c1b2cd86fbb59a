import { type ChatRequest, chatBased } from '../../dialects/chat-based/chat-based.ts'
import { serviceFailure } from '../../dialects/failures/service-failure.ts'
import { kindOfStatus, messageOf } from '../../dialects/neutral/failure.ts'
import { looseList, looseObject, looseText } from '../../dialects/neutral/fields.ts'
import type { Failure } from '../../dialects/neutral/reply.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

/** Fields that have the same names in watsonx.ai as in OpenAI's API (watsonx.ai API reference, "Infer text chat"). */
const same = [
  'temperature',
  'top_p',
  'n',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'response_format',
] as const

/**
 * Conversations with watsonx.ai. The dialect is OpenAI's chat with different names for the model, for a required tool,
 * and for the finish reason.
 */
export const watsonxChat = chatBased({
  name: 'watsonx',
  request: requestOut,
  reply: answerIn,
  chunks: () => (event) => [answerIn(event)],
  failureWithin: (wire) => (Array.isArray(wire['errors']) ? failureIn(0, wire) : undefined),
  decodeFailure: failureIn,
})

/**
 * Converts a request. The body has no field for streaming, which the URL determines. The provider adds the project id.
 */
function requestOut(request: ChatRequest): JsonObject {
  const { maxTokens } = request
  const stop = request.takeStop()
  const fields = same.flatMap((name) => {
    const value = request.take(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    model_id: request.model,
    messages: request.messages.map((message) =>
      message['role'] === 'developer' ? { ...message, role: 'system' } : message,
    ),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(stop && { stop }),
    ...toolsOut(request),
    ...Object.fromEntries(fields),
  }
}

function toolsOut(request: ChatRequest): JsonObject {
  const tools = request.functions.map((each) => ({ type: 'function', function: each }))
  const choice = request.take('tool_choice')
  if (tools.length === 0) return {}
  if (isObject(choice)) return { tools, tool_choice: choice }
  return { tools, ...(typeof choice === 'string' && { tool_choice_option: choice }) }
}

function answerIn(wire: JsonObject): JsonObject {
  const { model_id: model, choices, ...rest } = wire
  const mapped = looseList(choices).map((choice) => ({ ...choice, finish_reason: reasonIn(choice['finish_reason']) }))
  return { ...rest, ...(model !== undefined && { model }), choices: mapped }
}

/**
 * Translates watsonx.ai's own finish reasons. They mean that the response was cancelled, or that it was truncated by a
 * time limit or an error.
 */
function reasonIn(reason: unknown): unknown {
  return reason === 'time_limit' || reason === 'cancelled' || reason === 'error' ? 'length' : reason
}

/**
 * Decodes an error. Usually, the status determines its kind, but the code of a used-up quota takes precedence
 * (watsonx.ai API reference, "Error handling").
 */
function failureIn(status: number, body: unknown): Failure {
  const object = looseObject(body)
  const [first] = looseList(object['errors'])
  const code = looseText(first?.['code'])
  const statusCode = typeof object['status_code'] === 'number' ? object['status_code'] : status
  const kind = code === 'token_quota_reached' ? 'billing' : kindOfStatus(statusCode)
  return serviceFailure(statusCode, kind, looseText(first?.['message']) || messageOf(body, statusCode), code)
}
