import { isObject, type JsonObject } from '../../lib/json.ts'
import type {
  Conversation,
  Message,
  Native,
  OutputWish,
  Part,
  ReasoningWish,
  ResponseFormat,
  TextPart,
  Tool,
  ToolChoice,
  ToolReference,
} from '../neutral/conversation.ts'
import type { RequestAddress } from '../neutral/dialect.ts'
import { type Fields, leftOf, missingField, wrongField } from '../neutral/fields.ts'
import { CallIds, partsIn } from './parts-in.ts'
import { protoEach, protoFields, protoMember, refuseOtherCase } from './protobuf-names.ts'
import { jsonSchemaOf } from './schema.ts'

const dialect = 'gemini'

/** Fields that affect the answer or its charge. A request that spells them in other capitals is rejected. */
const decisive = ['generationConfig', 'systemInstruction', 'serviceTier', 'cachedContent']
const decisiveInConfig = ['maxOutputTokens', 'candidateCount', 'thinkingConfig', 'responseModalities']

/**
 * A generateContent request (Gemini API reference, "Generating content"). The model and streaming are part of its URL.
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
  const tier = body.knownWord('serviceTier', ['standard', 'flex', 'priority', 'unspecified'])
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
    ...(tier && tier !== 'unspecified' && { serviceTier: tier }),
    ...leftOf(body, dialect),
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

function systemIn(body: Fields): TextPart[] {
  const value = body.raw('systemInstruction')
  if (value === undefined) return []
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  const content = protoMember(body, 'systemInstruction')
  // The role of the system instruction has no meaning. It is read so that it does not count as an unread field.
  content?.text('role')
  const parts = content ? partsIn(content, new CallIds()) : []
  return parts.map((part) => {
    if (part.type === 'text') return part
    throw wrongField(`${body.at('systemInstruction')}.parts`, 'text only')
  })
}

function messagesIn(body: Fields): Message[] {
  const contents = protoEach(body, 'contents')
  if (!contents || contents.length === 0) throw missingField('contents')
  const ids = new CallIds()
  const messages: { role: Message['role']; parts: Part[]; native?: Native }[] = []
  for (const content of contents) {
    const side = content.text('role') === '' ? 'user' : content.word('role', ['user', 'model', 'function'])
    const role = side === 'model' ? 'assistant' : 'user'
    const message = { role, parts: partsIn(content, ids), ...content.native(dialect) } as const
    const last = messages.at(-1)
    // Client programs send the pieces of an earlier streamed answer back as separate contents. Together these contents
    // are one turn.
    const goesOn = role === 'assistant' && last?.role === role && !last.native && !message.native
    if (!goesOn) messages.push(message)
    else for (const part of message.parts) addPiece(last.parts, part)
  }
  return messages
}

/** Adds a part to a turn, or continues the previous part. */
function addPiece(parts: Part[], piece: Part): void {
  const last = parts.at(-1)
  const isText = piece.type === 'text' || piece.type === 'reasoning'
  const isMore = isText && last?.type === piece.type && !last.seal && !last.native && !piece.native
  if (isMore) parts.splice(-1, 1, { ...piece, text: last.text + piece.text })
  else parts.push(piece)
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

/**
 * The tool choice for a list of function names. The model may also use the service's own tools, unless it must call a
 * function.
 */
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
  const names = calling.texts('allowedFunctionNames') ?? []
  const mode = modeIn(calling, names)
  const [only] = names
  if (mode === 'NONE') return { mode: 'none' }
  if (mode === 'ANY' && names.length === 1 && only !== undefined)
    return { mode: 'tool', tool: { type: 'named', name: only } }
  if (names.length > 0) return allowed(names, mode === 'ANY', tools)
  return { mode: mode === 'ANY' ? 'required' : 'auto' }
}

/**
 * `VALIDATED` requires every call to match the schema of its function. No other dialect can request this, so it becomes
 * `AUTO`, and the field `mode` is kept for Google only.
 */
function modeIn(calling: Fields, names: readonly string[]): string {
  if (names.length === 0 && calling.value['mode'] === 'VALIDATED') return 'AUTO'
  return calling.text('mode')?.toUpperCase() ?? 'AUTO'
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
  const effort = thinking.knownWord('thinkingLevel', ['minimal', 'low', 'medium', 'high'])
  return {
    ...(effort && { effort }),
    budgetTokens: thinking.number('thinkingBudget'),
    visible: thinking.flag('includeThoughts') ?? false,
  }
}

function outputIn(config: Fields): OutputWish | undefined {
  const modalities = config.texts('responseModalities')?.map((each) => each.toLowerCase())
  if (!modalities) return undefined
  const speech = protoMember(config, 'speechConfig')
  const voice = speech && protoMember(speech, 'voiceConfig')
  const name = voice && protoMember(voice, 'prebuiltVoiceConfig')?.text('voiceName')
  return { modalities, ...(name && { voice: name }) }
}
