import type { JsonObject } from '../../lib/json.ts'
import type { Conversation, Tool, ToolCallPart, ToolChoice } from '../neutral/conversation.ts'
import type { EncodedRequest } from '../neutral/dialect.ts'
import { withCacheMarks } from '../wire/cache-marks.ts'
import { DroppedFields } from '../wire/dropped-fields.ts'
import { spelledOut } from '../wire/spelled-out.ts'
import { spokenSystem } from '../wire/system-as-user.ts'
import { demandedName, mustCall, offerOf } from '../wire/tool-choice.ts'
import { freeformDescription, freeformSchema } from '../wire/tool-input.ts'
import { modelTraits } from './model.ts'
import { type BlockContext, blocksOut, cacheOut } from './parts-out.ts'
import { thinkingOut } from './thinking.ts'

/**
 * A Converse request for Amazon Bedrock (API reference, "Converse"). The model is sent in the URL. Throws GatewayError
 * for anything that cannot be expressed.
 */
export function encodeRequest(original: Conversation): EncodedRequest {
  const traits = modelTraits(original.model)
  const plain = spelledOut(original, 'bedrock-converse')
  const conversation = traits.caches ? withCacheMarks(plain) : plain
  const dropped = new DroppedFields(conversation, 'bedrock-converse')
  const context: BlockContext = { dropped, traits }
  const thinking = thinkingOut(conversation, context)
  const system = blocksOut(conversation.system, context)
  const toolConfig = toolConfigOut(conversation, context)
  const inference = inferenceOut(conversation, thinking, context)
  const extra = { ...thinking.fields, ...topKOut(conversation, thinking.on, context) }
  const output = formatOut(conversation, dropped)
  const tier = tierOut(conversation, dropped)
  dropped.loseWishesBut(conversation, 'stop', 'serviceTier')
  const body: JsonObject = {
    messages: messagesOut(conversation, context),
    ...(system.length > 0 && { system }),
    ...(Object.keys(inference).length > 0 && { inferenceConfig: inference }),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(extra).length > 0 && { additionalModelRequestFields: extra }),
    ...(output && { outputConfig: output }),
    ...(tier && { serviceTier: { type: tier } }),
  }
  return { body, dropped: dropped.names }
}

/**
 * Consecutive turns of the same role are merged, because the service requires alternating turns that begin with a user
 * turn.
 */
function messagesOut(conversation: Conversation, context: BlockContext): JsonObject[] {
  const messages: { role: string; content: JsonObject[] }[] = []
  for (const message of conversation.messages) {
    context.dropped.lose('speaker', message.name)
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = blocksOut(message.role === 'system' ? spokenSystem(message.parts) : message.parts, context)
    if (content.length === 0) continue
    const last = messages.at(-1)
    // Blocks are added one by one, because a caller may send more parts than JavaScript allows as arguments of one
    // call.
    if (last?.role === role) for (const block of content) last.content.push(block)
    else messages.push({ role, content })
  }
  return messages
}

function inferenceOut(
  { maxTokens, temperature, topP, stop }: Conversation,
  { on }: { on: boolean },
  { dropped, traits }: BlockContext,
): JsonObject {
  const isFixed = traits.isClaude && (on || traits.claude.fixedSampling)
  if (isFixed) {
    dropped.lose('temperature', temperature === 1 ? undefined : temperature)
    dropped.lose('topP', topP === 1 ? undefined : topP)
  }
  const takesTopP = temperature === undefined || !(traits.isClaude && traits.claude.oneSampler)
  if (!isFixed && !takesTopP) dropped.lose('topP', topP === 1 ? undefined : topP)
  const isTooHot = temperature !== undefined && temperature > 1
  if (isTooHot && !isFixed) dropped.lose('temperature', temperature)
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(!isFixed && temperature !== undefined && { temperature: Math.min(1, temperature) }),
    ...(!isFixed && takesTopP && topP !== undefined && { topP }),
    ...(stop && stop.length > 0 && { stopSequences: stop }),
  }
}

function topKOut({ topK }: Conversation, thinks: boolean, { dropped, traits }: BlockContext): JsonObject {
  if (topK === undefined) return {}
  if (traits.isClaude && !thinks && !traits.claude.fixedSampling) return { top_k: topK }
  if (traits.isNova) return { inferenceConfig: { topK } }
  dropped.lose('topK', topK)
  return {}
}

/**
 * The tools, and which of them may be called. If the history contains calls, the service requires tools. Tools that
 * were called are therefore declared even if the caller no longer offers any.
 */
function toolConfigOut(conversation: Conversation, context: BlockContext): JsonObject | undefined {
  const { messages } = conversation
  const { dropped } = context
  const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call'))
  const offer = offerOf(conversation, dropped, (tool) => toolOut(tool, context))
  const isForbidden = offer.choice?.mode === 'none'
  if (isForbidden && calls.length === 0) return undefined
  if (isForbidden) dropped.lose('toolChoice', offer.choice)
  const tools = offer.tools.length > 0 ? offer.tools : calledBefore(calls)
  if (tools.length === 0) return undefined
  const choice = choiceOut(offer.choice, context)
  return { tools, ...(choice && offer.tools.length > 0 && { toolChoice: choice }) }
}

function calledBefore(calls: readonly ToolCallPart[]): JsonObject[] {
  const names = [...new Set(calls.map(({ name }) => name))]
  return names.map((name) => ({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } }))
}

function toolOut(tool: Tool, context: BlockContext): JsonObject[] {
  const { dropped } = context
  switch (tool.type) {
    case 'function':
      dropped.lose('strictTool', (tool.strict && !context.traits.isClaude) || undefined)
      return [
        {
          toolSpec: {
            name: tool.name,
            // The service refuses an empty description.
            ...(tool.description && { description: tool.description }),
            inputSchema: { json: { type: 'object', ...(tool.schema ?? { properties: {} }) } },
            ...(tool.strict && context.traits.isClaude && { strict: true }),
          },
        },
        ...cacheOut(tool.cache, context),
      ]
    case 'freeform': {
      const description = freeformDescription(tool.description, tool.format)
      dropped.lose('toolFormat', tool.format)
      const spec = { name: tool.name, ...(description && { description }), inputSchema: { json: freeformSchema } }
      return [{ toolSpec: spec }]
    }
    case 'web-search':
      dropped.lose('searchTool', tool)
      return []
    default:
      dropped.foreign(tool.value, 'tool')
      return []
  }
}

function choiceOut(choice: ToolChoice | undefined, { dropped, traits }: BlockContext): JsonObject | undefined {
  if (!choice || choice.mode === 'none') return undefined
  if (!mustCall(choice)) return { auto: {} }
  if (traits.isClaude && traits.claude.freeChoice) {
    dropped.lose('toolChoice', choice)
    return { auto: {} }
  }
  const name = demandedName(choice)
  return name === undefined ? { any: {} } : { tool: { name } }
}

function formatOut({ format }: Conversation, dropped: DroppedFields): JsonObject | undefined {
  if (format?.type === 'json') dropped.lose('format', format)
  if (format?.type !== 'schema') return undefined
  const jsonSchema = {
    name: format.name ?? 'answer',
    schema: JSON.stringify(format.schema),
    ...(format.description && { description: format.description }),
  }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

const tiers = { standard: 'default', flex: 'flex', priority: 'priority', auto: undefined } as const

function tierOut({ serviceTier }: Conversation, dropped: DroppedFields): string | undefined {
  if (serviceTier === undefined) return undefined
  const tier = tiers[serviceTier]
  if (serviceTier !== 'auto' && tier === undefined) dropped.lose('serviceTier', serviceTier)
  return tier
}
