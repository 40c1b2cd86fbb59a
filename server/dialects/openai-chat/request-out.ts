import type { JsonObject } from '../../lib/json.ts'
import { wantsCompletionLimit } from '../models/openai-model.ts'
import { effortOf } from '../models/reasoning-effort.ts'
import type { Conversation, Tool, ToolChoice, ToolReference } from '../neutral/conversation.ts'
import type { EncodedRequest, EncodeOptions } from '../neutral/dialect.ts'
import { commonOut, isFixed } from '../openai-shared/openai-request.ts'
import { DroppedFields } from '../wire/dropped-fields.ts'
import { spelledOut } from '../wire/spelled-out.ts'
import { meantTools, namedReferences, type Offer, offerOf } from '../wire/tool-choice.ts'
import { freeformDescription, freeformSchema } from '../wire/tool-input.ts'
import { messagesOut } from './messages-out.ts'
import { cacheOut } from './parts-out.ts'

const dialect = 'openai-chat'

/**
 * A chat completion request (OpenAI API reference, "Create chat completion"). Throws GatewayError for anything that
 * cannot be expressed.
 */
export function encodeRequest(original: Conversation, options: EncodeOptions = {}): EncodedRequest {
  const conversation = spelledOut(original, dialect)
  const dropped = new DroppedFields(conversation, dialect)
  const { tools, choice, search } = offered(conversation, dropped, options)
  const { output } = conversation
  const modalities = output?.modalities.filter((each) => each === 'text' || each === 'audio')
  const wantsSound = modalities?.includes('audio') ?? false
  dropped.lose('output', output && modalities?.length !== output.modalities.length ? output : undefined)
  const body: JsonObject = {
    model: conversation.model,
    messages: messagesOut(conversation, dropped, options),
    stream: conversation.stream || undefined,
    stream_options: conversation.stream && conversation.wantsStreamUsage ? { include_usage: true } : undefined,
    tools: tools.length > 0 ? tools : undefined,
    ...(tools.length > 0 && choiceOut(choice, options.freeformTools ?? false)),
    response_format: formatOut(conversation),
    ...reasoningOut(conversation, dropped, options),
    ...limitOut(conversation),
    ...penaltiesOut(conversation, dropped),
    seed: conversation.seed,
    stop: conversation.stop && conversation.stop.length > 0 ? conversation.stop : undefined,
    n: conversation.choices,
    logprobs: conversation.logprobs,
    verbosity: conversation.verbosity,
    modalities: wantsSound || !dropped.isForeign ? modalities : undefined,
    audio: wantsSound ? { voice: output?.voice ?? 'alloy', format: output?.soundFormat ?? 'wav' } : undefined,
    web_search_options: search,
    ...commonOut(conversation, dropped),
  }
  // A request converted from another dialect never sets `store`, so a service with this option refuses the metadata
  // even if the option is `unstored`.
  if (dropped.isForeign && options.refusesMetadata) {
    dropped.lose('metadata', body['metadata'])
    delete body['metadata']
  }
  return { body: dropped.withNative(body, conversation), dropped: dropped.names }
}

/**
 * The token limit. Only models that require the newer field name get it, because other services might not support it.
 */
function limitOut({ maxTokens, model }: Conversation): JsonObject {
  if (maxTokens === undefined) return {}
  return wantsCompletionLimit(model) ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }
}

function penaltiesOut(conversation: Conversation, dropped: DroppedFields): JsonObject {
  const { frequencyPenalty, presencePenalty } = conversation
  if (!dropped.isForeign || !isFixed(conversation))
    return { frequency_penalty: frequencyPenalty, presence_penalty: presencePenalty }
  dropped.lose('frequencyPenalty', frequencyPenalty || undefined)
  dropped.lose('presencePenalty', presencePenalty || undefined)
  return {}
}

/** Matches names of models that are known to refuse a thinking effort (model pages of OpenAI, xAI and Groq). */
const thoughtless = /^(?:.*\/)?(?:gpt-[34]|chatgpt-4|grok-(?:2|3(?!-mini)|4(?![.\d]))|llama|mixtral|gemma)/

function reasoningOut({ reasoning, model }: Conversation, dropped: DroppedFields, options: EncodeOptions): JsonObject {
  if (!reasoning) return {}
  const effort = effortOf(reasoning)
  if (dropped.isForeign && thoughtless.test(model)) {
    dropped.lose('reasoning', effort === 'none' ? undefined : reasoning)
    return {}
  }
  if (options.reasoningField !== 'reasoning_details') return { reasoning_effort: effort }
  const { budgetTokens, visible, adaptive } = reasoning
  return {
    reasoning: {
      ...(budgetTokens === undefined ? effort && { effort } : { max_tokens: budgetTokens }),
      ...(adaptive && { enabled: true }),
      ...(visible !== undefined && { exclude: !visible }),
    },
  }
}

function toolOut(tool: Tool, dropped: DroppedFields, options: EncodeOptions): JsonObject[] {
  switch (tool.type) {
    case 'function': {
      const { name, description, schema, strict } = tool
      const native = dropped.native(tool.native)
      const declared = { name, description, parameters: schema, strict, ...native }
      return [{ type: 'function', function: declared, ...cacheOut(tool.cache, dropped, options) }]
    }
    case 'freeform': {
      const { name, description, format } = tool
      if (options.freeformTools) return [{ type: 'custom', custom: { name, description, format } }]
      dropped.lose('toolFormat', format)
      const fullDescription = freeformDescription(description, format) || undefined
      return [{ type: 'function', function: { name, description: fullDescription, parameters: freeformSchema } }]
    }
    case 'web-search':
      return []
    default:
      if (tool.dialect === dialect) return [tool.value]
      dropped.foreign(tool.value, 'tool')
      return []
  }
}

interface ChatOffer extends Offer {
  readonly search: JsonObject | undefined
}

/**
 * In this dialect, search is not a tool. If the tool choice allows or requires only search, the model must not call any
 * of the tools.
 */
function offered(conversation: Conversation, dropped: DroppedFields, options: EncodeOptions): ChatOffer {
  const meant = meantTools(conversation)
  const { mode } = conversation.toolChoice ?? {}
  const mayLook = mode !== 'allowed' || meant.some(({ type }) => type === 'web-search')
  const search = mayLook ? searchIn(conversation, dropped, options) : undefined
  const write = (tool: Tool) => toolOut(tool, dropped, options)
  // Services other than OpenAI might not support a list of allowed tools. They get it only from callers of this
  // dialect.
  const hasList = options.freeformTools || !dropped.isForeign
  const isSayable = meant.some(({ type }) => type === 'function' || type === 'freeform')
  if (mode === 'allowed' && hasList && isSayable)
    return { tools: conversation.tools.flatMap(write), choice: conversation.toolChoice, search }
  const isSearchAlone =
    (mode === 'allowed' || mode === 'tool') && meant.length > 0 && meant.every(({ type }) => type === 'web-search')
  if (search && isSearchAlone) return { tools: conversation.tools.flatMap(write), choice: { mode: 'none' }, search }
  return { ...offerOf(conversation, dropped, write), search }
}

/**
 * Matches names of models that search the web. All other OpenAI models, and strict services, refuse the search field.
 */
const searching = /search|sonar|compound|online/

function searchIn(
  { tools, model }: Conversation,
  dropped: DroppedFields,
  options: EncodeOptions,
): JsonObject | undefined {
  const tool = tools.find((each) => each.type === 'web-search')
  if (!tool) return undefined
  if (!dropped.isForeign || options.webSearch || searching.test(model)) return searchOut(tool, dropped)
  dropped.lose('searchTool', tool)
  return undefined
}

function searchOut(tool: Tool & { type: 'web-search' }, dropped: DroppedFields): JsonObject {
  const { contextSize, location } = tool
  dropped.loseSearchBut(tool, 'searchSize', 'searchLocation')
  return {
    ...dropped.native(tool.native),
    ...(contextSize && { search_context_size: contextSize }),
    ...(location && { user_location: { type: 'approximate', approximate: location } }),
  }
}

function choiceOut(choice: ToolChoice | undefined, hasFree: boolean): JsonObject {
  if (!choice) return {}
  if (choice.mode === 'tool')
    return choice.tool.type === 'named' ? { tool_choice: referenceOut(choice.tool, hasFree) } : {}
  if (choice.mode !== 'allowed') return { tool_choice: choice.mode }
  const tools = namedReferences(choice.tools).map((tool) => referenceOut(tool, hasFree))
  const allowed = { mode: choice.required ? 'required' : 'auto', tools }
  return { tool_choice: { type: 'allowed_tools', allowed_tools: allowed } }
}

function referenceOut({ name, freeform }: ToolReference & { type: 'named' }, hasFree: boolean): JsonObject {
  return freeform && hasFree ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } }
}

function formatOut({ format }: Conversation): JsonObject | undefined {
  if (!format) return undefined
  if (format.type !== 'schema') return { type: format.type === 'json' ? 'json_object' : 'text' }
  const { name = 'answer', description, schema, strict } = format
  return { type: 'json_schema', json_schema: { name, description, schema, strict } }
}
