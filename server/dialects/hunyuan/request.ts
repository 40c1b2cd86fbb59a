import { isObject, type JsonObject } from '../../lib/json.ts'
import { type ChatRequest, cannotSay } from '../chat-based/chat-based.ts'
import { textOf } from '../chat-based/plain-turns.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'
import { toPascal } from './names.ts'

/**
 * A Tencent ChatCompletions request (Hunyuan API reference). Throws GatewayError (400) for anything that it does not
 * support.
 */
export function requestOut(request: ChatRequest): JsonObject {
  const stop = request.takeStop()
  const seed = request.takeNumber('seed')
  return {
    Model: request.model,
    Messages: messagesOut(request.messages),
    Stream: request.stream,
    Temperature: request.takeWithin('temperature', 0, 2),
    TopP: request.takeWithin('top_p', 0, 1),
    ...(stop && { Stop: stop }),
    // The service does not accept 0 as a seed.
    ...(seed !== undefined && seed > 0 && { Seed: seed }),
    ...toolsOut(request),
    ...(request.take('web_search_options') !== undefined && { EnableEnhancement: true, ForceSearchEnhancement: true }),
  }
}

/** The service allows only one system message, at the start. */
function messagesOut(messages: readonly JsonObject[]): JsonObject[] {
  return messages.map((message, index) => {
    const { role, content } = message
    const isSystem = role === 'system' || role === 'developer'
    const isLate = isSystem && index > 0
    return {
      Role: isLate ? 'user' : isSystem ? 'system' : role,
      ...contentOut(isLate ? `<system>\n${textOf(content)}\n</system>` : content),
      ...(Array.isArray(message['tool_calls']) && { ToolCalls: toPascal(message['tool_calls']) }),
      ...(looseText(message['tool_call_id']) && { ToolCallId: message['tool_call_id'] }),
    }
  })
}

function contentOut(content: unknown): JsonObject {
  if (!Array.isArray(content)) return { Content: looseText(content) }
  return {
    Contents: looseList(content).map((part) => {
      if (part['type'] === 'text') return { Type: 'text', Text: part['text'] }
      if (part['type'] === 'image_url')
        return { Type: 'image_url', ImageUrl: { Url: looseText(looseObject(part['image_url'])['url']) } }
      throw cannotSay(`this channel does not support parts of type ${looseText(part['type'])}`, 'messages.content')
    }),
  }
}

function toolsOut(request: ChatRequest): JsonObject {
  const functions = request.functions
  const choice = request.take('tool_choice')
  if (functions.length === 0) return {}
  const tools = functions.map(({ name, description, parameters }) => ({
    Type: 'function',
    Function: {
      Name: name,
      ...(description !== undefined && { Description: description }),
      Parameters: JSON.stringify(parameters ?? { type: 'object', properties: {} }),
    },
  }))
  const forced = isObject(choice) ? looseObject(choice['function'])['name'] : undefined
  const custom = tools.find((tool) => tool.Function.Name === forced) ?? (choice === 'required' ? tools[0] : undefined)
  if (choice === 'required' && tools.length > 1) request.lose('toolChoice', choice)
  if (custom && (forced !== undefined || tools.length === 1))
    return { Tools: tools, ToolChoice: 'custom', CustomTool: custom }
  return { Tools: tools, ...(choice === 'auto' || choice === 'none' ? { ToolChoice: choice } : {}) }
}
