import { isObject, type JsonObject } from '../../lib/json.ts'
import { type ChatRequest, cannotSay } from '../chat-based/chat-based.ts'
import { textOf } from '../chat-based/plain-turns.ts'
import { budgetOf, budgetWithin } from '../models/reasoning-effort.ts'
import { type Effort, efforts } from '../neutral/conversation.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'
import { bareModel, isMultimodal, wantsSearch } from './model.ts'

/** The highest `top_p` that is sent. The service requires a value below 1. */
const mostTopP = 0.9999

/**
 * A request for text-generation or multimodal-generation (DashScope API reference, "Qwen"). Throws GatewayError (400)
 * for anything that it does not support.
 */
export function requestOut(request: ChatRequest): JsonObject {
  const { model, stream, messages } = request
  const inLists = isMultimodal(model)
  const search = request.take('web_search_options') !== undefined || wantsSearch(model)
  const functions = request.functions
  const choice = request.take('tool_choice')
  const parallel = request.take('parallel_tool_calls')
  const format = request.take('response_format')
  const parameters: JsonObject = {
    result_format: 'message',
    ...(stream && { incremental_output: true }),
    ...(search && { enable_search: true }),
    temperature: request.takeWithin('temperature', 0, 1.9999),
    top_p: request.takeWithin('top_p', 0.0001, mostTopP),
    top_k: request.takeNumber('top_k'),
    max_tokens: request.maxTokens,
    seed: request.take('seed'),
    stop: request.take('stop'),
    presence_penalty: request.take('presence_penalty'),
    n: request.take('n'),
    logprobs: request.take('logprobs'),
    top_logprobs: request.take('top_logprobs'),
    ...thinkingOut(request),
    ...(isObject(format) && format['type'] !== 'text' && { response_format: format }),
    ...(functions.length > 0 && {
      tools: functions.map((declared) => ({ type: 'function', function: declared })),
      ...choiceOut(choice, request),
      ...(parallel === true && { parallel_tool_calls: true }),
    }),
    ...request.takeUnknown(),
  }
  return {
    model: bareModel(model),
    input: { messages: messages.map((message) => messageOut(message, inLists)) },
    parameters: Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined)),
  }
}

/** The fields that control thinking. Hybrid models think only if they are told to. */
function thinkingOut(request: ChatRequest): JsonObject {
  const effort = efforts.find((each): each is Effort => each === request.take('reasoning_effort'))
  if (!effort) return {}
  if (effort === 'none') return { enable_thinking: false }
  const wanted = budgetOf({ effort })
  const budget = wanted === undefined ? undefined : budgetWithin(request.maxTokens, wanted)
  return { enable_thinking: true, ...(budget !== undefined && { thinking_budget: budget }) }
}

function choiceOut(choice: unknown, request: ChatRequest): JsonObject {
  if (choice === 'auto' || choice === 'none') return { tool_choice: choice }
  if (isObject(choice) && isObject(choice['function'])) return { tool_choice: choice }
  request.lose('toolChoice', choice)
  return {}
}

function messageOut(message: JsonObject, inLists: boolean): JsonObject {
  const { content, role } = message
  return {
    ...message,
    role: role === 'developer' ? 'system' : role,
    content: inLists ? listOut(content) : textOf(content ?? ''),
  }
}

/** Parts in this format have no `type`; each has a field named after its type. */
function listOut(content: unknown): JsonObject[] {
  if (typeof content === 'string') return [{ text: content }]
  return looseList(content).map((part) => {
    const type = looseText(part['type'])
    const url = (name: string) => looseText(looseObject(part[name])['url'])
    switch (type) {
      case 'text':
        return { text: part['text'] }
      case 'image_url':
        return { image: url('image_url') }
      case 'video_url':
        return { video: url('video_url') }
      case 'input_audio': {
        const { data, format } = looseObject(part['input_audio'])
        return {
          audio: /^https?:/.test(looseText(data)) ? data : `data:audio/${looseText(format)};base64,${looseText(data)}`,
        }
      }
      default:
        throw cannotSay(`this channel does not support parts of type ${type}`, 'messages.content')
    }
  })
}
