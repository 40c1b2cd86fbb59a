import type { JsonObject } from '../../lib/json.ts'
import { type ModelTraits, modelTraits, usualMaxTokens } from '../models/claude-model.ts'
import type { Conversation, Message, Part, Tool, ToolChoice } from '../neutral/conversation.ts'
import type { EncodedRequest, EncodeOptions } from '../neutral/dialect.ts'
import { withCacheMarks } from '../wire/cache-marks.ts'
import { DroppedFields } from '../wire/dropped-fields.ts'
import { spelledOut } from '../wire/spelled-out.ts'
import { spokenSystem } from '../wire/system-as-user.ts'
import { demandedName, mustCall, offerOf } from '../wire/tool-choice.ts'
import { freeformDescription, freeformSchema } from '../wire/tool-input.ts'
import { blocksOut, cacheOut } from './parts-out.ts'
import { closedSchema, hasLimits } from './schema.ts'
import { thinkingOf, usualRoom } from './thinking.ts'

const dialect = 'anthropic-messages'

/**
 * A Messages request for Anthropic (API reference, "Create a Message"). Throws GatewayError for anything that cannot be
 * expressed.
 */
export function encodeRequest(original: Conversation, options: EncodeOptions = {}): EncodedRequest {
  const conversation = withCacheMarks(spelledOut(original, dialect))
  const dropped = new DroppedFields(conversation, dialect)
  const traits = modelTraits(conversation.model)
  const thinking = thinkingOf(conversation, traits, dropped)
  const tokenLimit = conversation.maxTokens ?? options.defaultMaxTokens ?? usualMaxTokens(conversation.model)
  // If the caller set no token limit, the thinking budget is added to the default limit. A limit that the caller set is
  // not changed.
  const { budget = 0 } = thinking
  const maxTokens = budget >= tokenLimit ? Math.min(budget + tokenLimit, usualRoom) : tokenLimit
  const { tools, choice } = offerOf(conversation, dropped, (tool) => toolOut(tool, dropped))
  const outputConfig = { ...thinking.outputConfig, ...formatOut(conversation, dropped) }
  const body: JsonObject = {
    model: conversation.model,
    max_tokens: maxTokens,
    ...systemOut(conversation, dropped),
    messages: messagesOut(conversation, traits, dropped),
    ...(conversation.stream && { stream: true }),
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && choiceOut(conversation, choice, traits, dropped)),
    ...(thinking.thinking && { thinking: thinking.thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...samplingOut(conversation, traits, thinking.thinking !== undefined, dropped),
    ...(conversation.stop && conversation.stop.length > 0 && { stop_sequences: conversation.stop }),
    ...(conversation.userId && { metadata: { user_id: conversation.userId } }),
    ...tierOut(conversation, dropped),
    ...cacheOut(conversation.cache),
  }
  dropped.loseWishesBut(conversation, 'stop', 'userId', 'serviceTier', 'cache', 'parallelTools')
  return { body: dropped.withNative(body, conversation), dropped: dropped.names }
}

function systemOut({ system }: Conversation, dropped: DroppedFields): JsonObject {
  const blocks = blocksOut(system, dropped)
  if (blocks.length === 0) return {}
  const [first] = blocks
  const isPlain = blocks.length === 1 && Object.keys(first ?? {}).length === 2
  return { system: isPlain ? first?.['text'] : blocks }
}

/** Consecutive turns of the same role are merged, which is how the API would read them. */
function messagesOut(conversation: Conversation, traits: ModelTraits, dropped: DroppedFields): JsonObject[] {
  const messages: { role: string; blocks: JsonObject[]; rest: JsonObject }[] = []
  for (const message of conversation.messages) {
    dropped.lose('speaker', message.name)
    const last = messages.at(-1)
    const isSystem =
      message.role === 'system' && (conversation.from === dialect || (traits.midSystem && last?.role === 'user'))
    const role = message.role === 'system' && !isSystem ? 'user' : message.role
    const blocks = blocksOut(message.role === role ? inOrder(message) : spokenSystem(message.parts), dropped)
    const rest = dropped.native(message.native)
    if (blocks.length === 0) continue
    // Blocks are added one by one, because a caller may send more parts than JavaScript allows as arguments of one
    // call.
    if (last?.role === role && role !== 'system' && Object.keys(rest).length === 0)
      for (const block of blocks) last.blocks.push(block)
    else messages.push({ role, blocks, rest })
  }
  return messages.map(({ role, blocks, rest }) => ({ role, content: contentOut(blocks), ...rest }))
}

/** The parts of a turn, with tool results first. The API does not find results that come after other content. */
function inOrder(message: Message): readonly Part[] {
  const { parts } = message
  const firstOther = parts.findIndex((part) => part.type !== 'tool-result')
  const isLate = parts.some((part, index) => part.type === 'tool-result' && index > firstOther && firstOther >= 0)
  if (message.role !== 'user' || !isLate) return parts
  return [...parts.filter(({ type }) => type === 'tool-result'), ...parts.filter(({ type }) => type !== 'tool-result')]
}

function contentOut(blocks: JsonObject[]): unknown {
  const [first] = blocks
  const isPlain = blocks.length === 1 && first?.['type'] === 'text' && Object.keys(first).length === 2
  return isPlain ? first['text'] : blocks
}

/** Anthropic's name for its own search tool. */
const searchName = 'web_search'

function toolOut(tool: Tool, dropped: DroppedFields): JsonObject[] {
  switch (tool.type) {
    case 'function':
      return [
        {
          name: tool.name,
          ...(tool.description !== undefined && { description: tool.description }),
          input_schema: { type: 'object', ...(tool.schema ?? { properties: {} }) },
          ...(tool.strict && { strict: true }),
          ...cacheOut(tool.cache),
          ...dropped.native(tool.native),
        },
      ]
    case 'freeform': {
      const description = freeformDescription(tool.description, tool.format)
      dropped.lose('toolFormat', tool.format)
      return [{ name: tool.name, ...(description && { description }), input_schema: freeformSchema }]
    }
    case 'web-search': {
      const { maxUses, allowedDomains, blockedDomains, location } = tool
      dropped.loseSearchBut(tool, 'searchLocation', 'searchUses', 'allowedDomains', 'blockedDomains', 'cacheMark')
      return [
        {
          type: 'web_search_20250305',
          name: searchName,
          ...(maxUses !== undefined && { max_uses: maxUses }),
          ...(allowedDomains && { allowed_domains: allowedDomains }),
          ...(blockedDomains && { blocked_domains: blockedDomains }),
          ...(location && { user_location: { type: 'approximate', ...location } }),
          ...cacheOut(tool.cache),
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

function choiceOut(
  { parallelTools }: Conversation,
  toolChoice: ToolChoice | undefined,
  traits: ModelTraits,
  dropped: DroppedFields,
): JsonObject {
  if (!toolChoice && parallelTools === undefined) return {}
  const isForced = mustCall(toolChoice) && !traits.freeChoice
  if (mustCall(toolChoice) && traits.freeChoice) dropped.lose('toolChoice', toolChoice)
  if (toolChoice?.mode === 'none') return { tool_choice: { type: 'none' } }
  const single = parallelTools === undefined ? {} : { disable_parallel_tool_use: !parallelTools }
  if (!isForced) return { tool_choice: { type: 'auto', ...single } }
  if (toolChoice?.mode === 'tool')
    return { tool_choice: { type: 'tool', name: demandedName(toolChoice) ?? searchName, ...single } }
  return { tool_choice: { type: 'any', ...single } }
}

function formatOut({ format, from }: Conversation, dropped: DroppedFields): JsonObject {
  if (format?.type === 'schema') {
    if (from === dialect) return { format: { type: 'json_schema', schema: format.schema } }
    dropped.lose('schemaLimits', hasLimits(format.schema) || undefined)
    return { format: { type: 'json_schema', schema: closedSchema(format.schema) } }
  }
  if (format?.type === 'json') dropped.lose('format', format)
  return {}
}

/**
 * Anthropic accepts a temperature of at most 1. With thinking, and on the newest models, it accepts no sampling
 * parameters at all.
 */
function samplingOut(
  conversation: Conversation,
  traits: ModelTraits,
  thinks: boolean,
  dropped: DroppedFields,
): JsonObject {
  const { temperature, topP, topK, from } = conversation
  if (from === dialect) return { temperature, top_p: topP, top_k: topK }
  if (thinks || traits.fixedSampling) {
    dropped.lose('temperature', temperature === 1 ? undefined : temperature)
    dropped.lose('topP', topP === 1 ? undefined : topP)
    dropped.lose('topK', topK)
    return {}
  }
  if (temperature !== undefined && temperature > 1) dropped.lose('temperature', temperature)
  const takesTopP = temperature === undefined || !traits.oneSampler
  if (!takesTopP) dropped.lose('topP', topP === 1 ? undefined : topP)
  return {
    temperature: temperature === undefined ? undefined : Math.min(1, temperature),
    top_p: takesTopP ? topP : undefined,
    top_k: topK,
  }
}

function tierOut({ serviceTier }: Conversation, dropped: DroppedFields): JsonObject {
  if (serviceTier === undefined) return {}
  if (serviceTier === 'flex') {
    dropped.lose('serviceTier', serviceTier)
    return {}
  }
  // The priority tier cannot be required; `auto` uses it if the account has it.
  return { service_tier: serviceTier === 'standard' ? 'standard_only' : 'auto' }
}
