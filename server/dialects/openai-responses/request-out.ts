import type { JsonObject } from '../../lib/json.ts'
import { effortOf } from '../models/reasoning-effort.ts'
import type { Conversation, Tool, ToolChoice, ToolReference } from '../neutral/conversation.ts'
import type { EncodedRequest } from '../neutral/dialect.ts'
import { commonOut } from '../openai-shared/openai-request.ts'
import { DroppedFields } from '../wire/dropped-fields.ts'
import { spelledOut } from '../wire/spelled-out.ts'
import { type Offer, offerOf } from '../wire/tool-choice.ts'
import { itemsOut } from './items-out.ts'
import { inSpaces, namespacesOf } from './namespaces.ts'

const dialect = 'openai-responses'

/** The settings for which the Responses API has a field. */
const supported = [
  'logprobs',
  'verbosity',
  'userId',
  'metadata',
  'serviceTier',
  'cacheKey',
  'cacheRetention',
  'parallelTools',
  'summary',
] as const

/**
 * A Responses API request (OpenAI API reference, "Create a model response"). Throws GatewayError for anything that
 * cannot be expressed.
 */
export function encodeRequest(original: Conversation): EncodedRequest {
  const conversation = spelledOut(original, dialect)
  const dropped = new DroppedFields(conversation, dialect)
  const { system, verbosity, reasoning, stream } = conversation
  const instructions = system.map(({ text }) => text).join('\n\n')
  for (const { cache } of dropped.isForeign ? system : []) dropped.lose('cacheMark', cache)
  const { tools, choice } = offered(conversation, dropped)
  const format = formatOut(conversation)
  const effort = reasoning && effortOf(reasoning)
  const summary = reasoning?.summary ?? (dropped.isForeign && reasoning?.visible !== false ? 'auto' : undefined)
  const body: JsonObject = {
    model: conversation.model,
    ...(instructions && { instructions }),
    input: itemsOut(conversation.messages, dropped, namespacesOf(conversation.tools)),
    stream: stream || undefined,
    ...(tools.length > 0 && { tools, tool_choice: choiceOut(choice, dropped.isForeign) }),
    max_output_tokens: conversation.maxTokens,
    // A caller of another dialect cannot retrieve the response later, so it is not stored.
    ...(dropped.isForeign && { store: false, include: includes(conversation) }),
    ...commonOut(conversation, dropped),
    ...(!dropped.isForeign && {
      frequency_penalty: conversation.frequencyPenalty,
      presence_penalty: conversation.presencePenalty,
    }),
    text: filled({ format, verbosity }),
    reasoning: filled({ effort, summary: reasoning && effort !== 'none' ? summary : undefined }),
  }
  dropped.loseWishesBut(
    conversation,
    ...supported,
    ...(dropped.isForeign ? [] : (['output', 'frequencyPenalty', 'presencePenalty'] as const)),
  )
  return { body: dropped.withNative(body, conversation), dropped: dropped.names }
}

/** The object, or undefined if it would be empty. */
function filled(object: JsonObject): JsonObject | undefined {
  return Object.values(object).some((value) => value !== undefined) ? object : undefined
}

/** The output that must be requested explicitly: log probabilities, and encrypted reasoning for the next turn. */
function includes({ reasoning, logprobs }: Conversation): string[] | undefined {
  const names = [
    ...(reasoning ? ['reasoning.encrypted_content'] : []),
    ...(logprobs ? ['message.output_text.logprobs'] : []),
  ]
  return names.length > 0 ? names : undefined
}

/**
 * The tools and the tool choice. This dialect supports a list of allowed tools. Tools that exist only in another
 * dialect are omitted from that list.
 */
function offered(conversation: Conversation, dropped: DroppedFields): Offer {
  const write = (tool: Tool) => toolOut(tool, dropped)
  const choice = conversation.toolChoice
  const isSayable = (tool: ToolReference) => !dropped.isForeign || tool.type !== 'native'
  if (choice?.mode !== 'allowed' || !choice.tools.some(isSayable))
    return inOwnSpaces(conversation, offerOf(conversation, dropped, write), dropped)
  const tools = choice.tools.filter(isSayable)
  return { tools: written(conversation.tools, dropped), choice: { ...choice, tools } }
}

/**
 * If the request came in this dialect, each tool is put back into its namespace, even if the tool choice excludes it.
 */
function inOwnSpaces({ tools }: Conversation, offer: Offer, dropped: DroppedFields): Offer {
  return dropped.isForeign || namespacesOf(tools).size === 0 ? offer : { ...offer, tools: written(tools, dropped) }
}

function written(tools: readonly Tool[], dropped: DroppedFields): JsonObject[] {
  return inSpaces(tools.flatMap((tool) => toolOut(tool, dropped).map((wire) => [tool, wire] as const)))
}

function toolOut(tool: Tool, dropped: DroppedFields): JsonObject[] {
  switch (tool.type) {
    case 'function': {
      dropped.lose('cacheMark', tool.cache)
      const { name, description, schema } = tool
      // Tools are strict by default in this dialect, but not in others.
      const strict = tool.strict ?? (dropped.isForeign ? false : undefined)
      const native = dropped.native(tool.native)
      return [
        {
          type: 'function',
          name,
          description,
          parameters: schema ?? { type: 'object', properties: {} },
          strict,
          ...native,
        },
      ]
    }
    case 'freeform': {
      const { name, description, format } = tool
      return [{ type: 'custom', name, description, format, ...dropped.native(tool.native) }]
    }
    case 'web-search': {
      const { contextSize, location, allowedDomains, blockedDomains } = tool
      dropped.loseSearchBut(tool, 'searchSize', 'searchLocation', 'allowedDomains', 'blockedDomains')
      const filters = { allowed_domains: allowedDomains, blocked_domains: blockedDomains }
      return [
        {
          type: 'web_search',
          ...(contextSize && { search_context_size: contextSize }),
          ...(location && { user_location: { type: 'approximate', ...location } }),
          ...((allowedDomains ?? blockedDomains) && { filters }),
          ...dropped.native(tool.native),
        },
      ]
    }
    default:
      if (tool.dialect === dialect) return [tool.value]
      dropped.foreign(tool.value, 'tool')
      return []
  }
}

function choiceOut(choice: ToolChoice | undefined, isForeign: boolean): unknown {
  if (!choice) return undefined
  if (choice.mode === 'tool') return referenceOut(choice.tool, isForeign)
  if (choice.mode !== 'allowed') return choice.mode
  const tools = choice.tools.map((tool) => referenceOut(tool, isForeign))
  return { type: 'allowed_tools', mode: choice.required ? 'required' : 'auto', tools }
}

function referenceOut(tool: ToolReference, isForeign: boolean): JsonObject {
  if (tool.type === 'named') return { type: tool.freeform ? 'custom' : 'function', name: tool.name }
  return isForeign || !tool.value ? { type: 'web_search' } : tool.value
}

function formatOut({ format }: Conversation): JsonObject | undefined {
  if (!format) return undefined
  if (format.type !== 'schema') return { type: format.type === 'json' ? 'json_object' : 'text' }
  const { name = 'answer', description, schema, strict } = format
  return { type: 'json_schema', name, description, schema, strict }
}
