import { isObject, type JsonObject } from '../../lib/json.ts'
import { budgetOf, effortOf } from '../models/reasoning-effort.ts'
import type { Conversation, Effort, Tool, ToolChoice, ToolReference } from '../neutral/conversation.ts'
import type { EncodedRequest } from '../neutral/dialect.ts'
import { DroppedFields } from '../wire/dropped-fields.ts'
import { spelledOut } from '../wire/spelled-out.ts'
import { spokenSystem } from '../wire/system-as-user.ts'
import { meantTools, mustCall, namedReferences, type Offer } from '../wire/tool-choice.ts'
import { freeformDescription, freeformSchema } from '../wire/tool-input.ts'
import { type ModelTraits, modelTraits } from './model.ts'
import { callNamesOf, type PartsContext, partsOut } from './parts-out.ts'

const dialect = 'gemini'

/** The settings for which Google has a field. */
const supported = [
  'frequencyPenalty',
  'presencePenalty',
  'seed',
  'stop',
  'choices',
  'logprobs',
  'serviceTier',
  'output',
] as const

/**
 * A generateContent request for Google (API reference, "Generating content"). The model is sent in the URL. Throws
 * GatewayError for anything that cannot be expressed.
 */
export function encodeRequest(original: Conversation): EncodedRequest {
  const conversation = spelledOut(original, dialect)
  const dropped = new DroppedFields(conversation, dialect)
  const traits = modelTraits(conversation.model)
  const context: PartsContext = { dropped, traits, callNames: callNamesOf(conversation.messages) }
  const { tools, choice } = offered(conversation, dropped)
  const config = configOut(conversation, traits, dropped)
  const toolConfig = choiceOut(choice)
  const system = partsOut(conversation.system, context)
  const body: JsonObject = {
    contents: contentsOut(conversation, context),
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    ...(tools.length > 0 && { tools }),
    toolConfig: Object.keys(toolConfig).length > 0 ? toolConfig : undefined,
    generationConfig: Object.values(config).some((value) => value !== undefined) ? config : undefined,
    ...(conversation.serviceTier && conversation.serviceTier !== 'auto' && { serviceTier: conversation.serviceTier }),
  }
  dropped.loseWishesBut(conversation, ...supported)
  return { body: dropped.withNative(body, conversation), dropped: dropped.names }
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function contentsOut(conversation: Conversation, context: PartsContext): JsonObject[] {
  const contents: { role: string; parts: JsonObject[]; rest: JsonObject }[] = []
  for (const message of conversation.messages) {
    context.dropped.lose('speaker', message.name)
    const role = message.role === 'assistant' ? 'model' : 'user'
    // Google supports system instructions only at the start.
    const parts = partsOut(message.role === 'system' ? spokenSystem(message.parts) : message.parts, context)
    const rest = context.dropped.native(message.native)
    if (parts.length === 0) continue
    const last = contents.at(-1)
    // Results of parallel calls must be in one turn. Parts are added one by one, because a caller may send more parts
    // than JavaScript allows as arguments of one call.
    if (last?.role === role && context.dropped.isForeign) for (const part of parts) last.parts.push(part)
    else contents.push({ role, parts, rest })
  }
  return contents.map(({ role, parts, rest }) => ({ role, parts, ...rest }))
}

/**
 * In Google's API, a tool choice can only name functions. Google's own tools cannot be required, so they are offered
 * only if the choice allows them.
 */
function offered(conversation: Conversation, dropped: DroppedFields): Offer {
  const { tools, toolChoice: choice } = conversation
  if (!dropped.isForeign || (choice?.mode !== 'allowed' && choice?.mode !== 'tool'))
    return { tools: toolsOut(tools, dropped), choice }
  const meant = meantTools(conversation)
  const isFunction = ({ type }: Tool) => type === 'function' || type === 'freeform'
  if (meant.some(isFunction)) {
    const others = new Set(meant)
    const allowed = tools.filter((tool) => isFunction(tool) || others.has(tool))
    return { tools: toolsOut(choice.mode === 'allowed' ? allowed : tools, dropped), choice }
  }
  const own = toolsOut(meant, dropped)
  if (mustCall(choice) || own.length === 0) dropped.lose('toolChoice', choice)
  if (own.length > 0) return { tools: own, choice: undefined }
  return { tools: toolsOut(tools.filter(isFunction), dropped), choice: { mode: 'none' } }
}

function toolsOut(tools: readonly Tool[], dropped: DroppedFields): JsonObject[] {
  const declarations: JsonObject[] = []
  const others: JsonObject[] = []
  const hasFunctions = tools.some(({ type }) => type === 'function' || type === 'freeform')
  for (const tool of tools) {
    switch (tool.type) {
      case 'function':
        dropped.lose('cacheMark', tool.cache)
        dropped.lose('strictTool', tool.strict || undefined)
        declarations.push({
          name: tool.name,
          ...(tool.description !== undefined && { description: tool.description }),
          ...(tool.schema && { parametersJsonSchema: tool.schema }),
          ...dropped.native(tool.native),
        })
        break
      case 'freeform': {
        const description = freeformDescription(tool.description, tool.format)
        dropped.lose('toolFormat', tool.format)
        declarations.push({
          name: tool.name,
          ...(description && { description }),
          parametersJsonSchema: freeformSchema,
        })
        break
      }
      case 'web-search':
        // Gemini accepts its own search together with functions only if the caller sends the searches back in the next
        // request. Callers of other dialects cannot.
        if (dropped.isForeign && hasFunctions) dropped.lose('searchTool', tool)
        else others.push(searchOut(tool, dropped))
        break
      default:
        if (tool.dialect === dialect) others.push(tool.value)
        else dropped.foreign(tool.value, 'tool')
    }
  }
  return declarations.length > 0 ? [{ functionDeclarations: declarations }, ...others] : others
}

function searchOut(tool: Tool & { type: 'web-search' }, dropped: DroppedFields): JsonObject {
  const { blockedDomains } = tool
  dropped.loseSearchBut(tool, 'blockedDomains')
  const native = dropped.native(tool.native)
  const own = objectOf(native['googleSearch'])
  return { ...native, googleSearch: { ...own, ...(blockedDomains && { excludeDomains: blockedDomains }) } }
}

function choiceOut(choice: ToolChoice | undefined): JsonObject {
  if (!choice) return {}
  const calling =
    choice.mode === 'tool'
      ? { mode: 'ANY', ...namesOf([choice.tool]) }
      : choice.mode === 'allowed'
        ? { mode: choice.required ? 'ANY' : 'VALIDATED', ...namesOf(choice.tools) }
        : { mode: { auto: 'AUTO', none: 'NONE', required: 'ANY' }[choice.mode] }
  return { functionCallingConfig: calling }
}

function namesOf(tools: readonly ToolReference[]): JsonObject {
  return { allowedFunctionNames: namedReferences(tools).map(({ name }) => name) }
}

function configOut(conversation: Conversation, traits: ModelTraits, dropped: DroppedFields): JsonObject {
  const { format, output } = conversation
  return {
    temperature: conversation.temperature,
    topP: conversation.topP,
    topK: conversation.topK,
    maxOutputTokens: conversation.maxTokens,
    candidateCount: conversation.choices === 1 && dropped.isForeign ? undefined : conversation.choices,
    stopSequences: conversation.stop,
    seed: conversation.seed,
    presencePenalty: conversation.presencePenalty,
    frequencyPenalty: conversation.frequencyPenalty,
    responseLogprobs: conversation.logprobs,
    logprobs: conversation.topLogprobs,
    responseMimeType: format && (format.type === 'text' ? 'text/plain' : 'application/json'),
    responseJsonSchema: format?.type === 'schema' ? format.schema : undefined,
    thinkingConfig: thinkingOut(conversation, traits, dropped),
    responseModalities: output?.modalities.map((each) => each.toUpperCase()),
    speechConfig: output?.voice ? { voiceConfig: { prebuiltVoiceConfig: { voiceName: output.voice } } } : undefined,
  }
}

/** Maps efforts to levels. An effort below the model's minimum becomes the minimum. */
const levels: Partial<Record<Effort, string>> = {
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/**
 * Newer models accept a thinking level, older ones a budget (Gemini API, "Thinking"). Callers of other dialects are
 * shown the thoughts.
 */
function thinkingOut({ reasoning }: Conversation, traits: ModelTraits, dropped: DroppedFields): JsonObject | undefined {
  if (!reasoning) return undefined
  const { visible = dropped.isForeign } = reasoning
  const effort = effortOf(reasoning)
  const isOff = effort === 'none'
  if (!traits.thinks && dropped.isForeign) {
    dropped.lose('reasoning', isOff ? undefined : reasoning)
    return undefined
  }
  const shown = visible && !(isOff && dropped.isForeign) ? { includeThoughts: true } : {}
  if (!dropped.isForeign && reasoning.budgetTokens !== undefined)
    return { thinkingBudget: reasoning.budgetTokens, ...shown }
  if (traits.levels) {
    const level = effort && (levels[effort] ?? traits.leastLevel)
    return { ...(level && { thinkingLevel: level }), ...shown }
  }
  const budget = budgetOf(reasoning)
  return {
    ...(budget !== undefined && { thinkingBudget: Math.max(budget, isOff ? traits.leastBudget : -1) }),
    ...shown,
  }
}
