import { isObject, type JsonObject } from '../../lib/json.ts'
import type {
  Conversation,
  Message,
  Native,
  OutputWish,
  ReasoningWish,
  ResponseFormat,
  TextPart,
  Tool,
  ToolChoice,
  ToolReference,
} from '../conversation.ts'
import type { RequestAddress } from '../dialect.ts'
import { type Fields, missingField, wrongField } from '../fields.ts'
import { CallIds, partsIn } from './parts-in.ts'
import { protoEach, protoFields, protoMember, refuseOtherCase } from './proto.ts'
import { jsonSchemaOf } from './schema.ts'

const dialect = 'gemini'

/** Names that decide what is served and charged. */
const decisive = ['generationConfig', 'systemInstruction', 'serviceTier', 'cachedContent']
const decisiveInConfig = ['maxOutputTokens', 'candidateCount', 'thinkingConfig', 'responseModalities']

/**
 * A generateContent request (Gemini API reference, "Generating content"); model and streaming stand in its address.
 * Throws GatewayError (400).
 */
export function decodeRequest(wire: JsonObject, address: RequestAddress = {}): Conversation {
  const body = protoFields(wire, '')
  const config = protoMember(body, 'generationConfig') ?? protoFields({}, 'generationConfig')
  refuseOtherCase(body, decisive)
  refuseOtherCase(config, decisiveInConfig)
  const toolConfig = protoMember(body, 'toolConfig')
  const model = (address.model ?? body.text('model') ?? '').replace(/^models\//, '')
  if (model === '') throw missingField('model')
  body.raw('model')
  const format = formatIn(config)
  const reasoning = reasoningIn(config)
  const output = outputIn(config)
  const tools = (protoEach(body, 'tools') ?? []).flatMap(toolsIn)
  const choice = choiceIn(toolConfig, tools)
  const tier = body.text('serviceTier')?.toLowerCase()
  return {
    from: dialect,
    model,
    stream: address.stream ?? false,
    wantsStreamUsage: true,
    system: systemIn(body),
    messages: messagesIn(body),
    tools,
    ...(choice && { toolChoice: choice }),
    ...(format && { format }),
    ...(reasoning && { reasoning }),
    ...(output && { output }),
    ...samplingIn(config),
    ...(tier && tier !== 'unspecified' && { serviceTier: tier === 'flex' || tier === 'priority' ? tier : 'standard' }),
    ...nativeIn(body, config, toolConfig),
  }
}

function samplingIn(config: Fields): Partial<Conversation> {
  const stop = config.texts('stopSequences')
  return {
    maxTokens: config.count('maxOutputTokens'),
    temperature: config.number('temperature'),
    topP: config.number('topP'),
    topK: config.number('topK'),
    choices: config.count('candidateCount'),
    seed: config.number('seed'),
    presencePenalty: config.number('presencePenalty'),
    frequencyPenalty: config.number('frequencyPenalty'),
    logprobs: config.flag('responseLogprobs'),
    topLogprobs: config.count('logprobs'),
    ...(stop && { stop }),
  }
}

/** What only Google knows, in the objects it stands in. */
function nativeIn(body: Fields, config: Fields, toolConfig: Fields | undefined): { native?: Native } {
  const within = {
    generationConfig: config.native(dialect).native?.fields,
    toolConfig: validatedIn(toolConfig),
  }
  const nested = Object.entries(within).filter(([, fields]) => fields !== undefined)
  const fields = { ...body.native(dialect).native?.fields, ...Object.fromEntries(nested) }
  return Object.keys(fields).length > 0 ? { native: { dialect, fields } } : {}
}

/** Calls that must fit their schemas: no other dialect asks for it here. */
function validatedIn(toolConfig: Fields | undefined): JsonObject | undefined {
  const fields = toolConfig?.native(dialect).native?.fields
  const calling = toolConfig && protoMember(toolConfig, 'functionCallingConfig')
  const isValidated = calling?.text('mode') === 'VALIDATED' && calling.texts('allowedFunctionNames') === undefined
  return isValidated ? { ...fields, functionCallingConfig: { mode: 'VALIDATED' } } : fields
}

function systemIn(body: Fields): TextPart[] {
  const value = body.raw('systemInstruction')
  if (value === undefined) return []
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  const parts = partsIn(protoFields(value, body.at('systemInstruction')), new CallIds())
  return parts.map((part) => {
    if (part.type === 'text') return part
    throw wrongField(`${body.at('systemInstruction')}.parts`, 'text only')
  })
}

function messagesIn(body: Fields): Message[] {
  const contents = protoEach(body, 'contents')
  if (!contents || contents.length === 0) throw missingField('contents')
  const ids = new CallIds()
  return contents.map((content) => {
    const side = content.text('role') === '' ? 'user' : content.word('role', ['user', 'model', 'function'])
    const role = side === 'model' ? 'assistant' : 'user'
    return { role, parts: partsIn(content, ids), ...content.native(dialect) }
  })
}

function toolsIn(tool: Fields): Tool[] {
  const functions = (protoEach(tool, 'functionDeclarations') ?? []).map(functionIn)
  const rest = tool.native(dialect).native?.fields ?? {}
  const others = Object.entries(rest).map(([name, value]): Tool => {
    if (name !== 'googleSearch') return { type: 'native', dialect, value: { [name]: value } }
    const isPlain = isObject(value) && Object.keys(value).length === 0
    return { type: 'web-search', ...(!isPlain && { native: { dialect, fields: { googleSearch: value } } }) }
  })
  return [...functions, ...others]
}

function functionIn(declaration: Fields): Tool {
  const description = declaration.text('description')
  const own = declaration.object('parameters')
  const schema = declaration.object('parametersJsonSchema') ?? (own && jsonSchemaOf(own))
  return {
    type: 'function',
    name: declaration.needText('name'),
    ...(description !== undefined && { description }),
    ...(schema && { schema }),
    ...declaration.native(dialect),
  }
}

/** The names are of functions: the service's own tools may be used beside them, unless a function must be called. */
function allowed(names: readonly string[], required: boolean, tools: readonly Tool[]): ToolChoice {
  const functions = names.map((name) => ({ type: 'named', name }) as const)
  const hosted = tools.flatMap((tool): ToolReference[] => {
    if (tool.type === 'native') return [{ type: 'native', value: tool.value }]
    return tool.type === 'web-search' ? [{ type: 'web-search' }] : []
  })
  return { mode: 'allowed', tools: required ? functions : [...functions, ...hosted], required }
}

function choiceIn(toolConfig: Fields | undefined, tools: readonly Tool[]): ToolChoice | undefined {
  const calling = toolConfig && protoMember(toolConfig, 'functionCallingConfig')
  if (!calling) return undefined
  const mode = calling.text('mode')?.toUpperCase() ?? 'AUTO'
  const names = calling.texts('allowedFunctionNames') ?? []
  const [only] = names
  if (mode === 'NONE') return { mode: 'none' }
  if (mode === 'ANY' && names.length === 1 && only !== undefined)
    return { mode: 'tool', tool: { type: 'named', name: only } }
  if (names.length > 0) return allowed(names, mode === 'ANY', tools)
  return { mode: mode === 'ANY' ? 'required' : 'auto' }
}

function formatIn(config: Fields): ResponseFormat | undefined {
  const type = config.text('responseMimeType')
  const own = config.object('responseSchema')
  const schema = config.object('responseJsonSchema') ?? (own && jsonSchemaOf(own))
  if (schema) return { type: 'schema', schema }
  if (type === 'application/json') return { type: 'json' }
  return type === 'text/plain' ? { type: 'text' } : undefined
}

function reasoningIn(config: Fields): ReasoningWish | undefined {
  const thinking = protoMember(config, 'thinkingConfig')
  if (!thinking) return undefined
  const level = thinking.text('thinkingLevel')?.toLowerCase()
  const effort = (['minimal', 'low', 'medium', 'high'] as const).find((each) => each === level)
  return {
    ...(effort && { effort }),
    budgetTokens: thinking.number('thinkingBudget'),
    visible: thinking.flag('includeThoughts') ?? false,
  }
}

function outputIn(config: Fields): OutputWish | undefined {
  const modalities = config.texts('responseModalities')?.map((each) => each.toLowerCase())
  if (!modalities) return undefined
  const speech = config.object('speechConfig')
  const voice = speech && protoMember(protoFields(speech, 'speechConfig'), 'voiceConfig')
  const name = voice && protoMember(voice, 'prebuiltVoiceConfig')?.text('voiceName')
  return { modalities, ...(name && { voice: name }) }
}
