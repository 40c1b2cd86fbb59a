import { isObject, type JsonObject } from '../../lib/json.ts'
import type {
  CacheMark,
  Conversation,
  Message,
  OutputWish,
  Part,
  ReasoningWish,
  ResponseFormat,
  TextPart,
  Tool,
  ToolChoice,
  ToolReference,
  ToolResultPart,
} from '../neutral/conversation.ts'
import type { RequestAddress } from '../neutral/dialect.ts'
import { Fields, leftOf, missingField, wrongField } from '../neutral/fields.ts'
import { cacheIn, commonIn, effortIn, searchIn } from '../openai-shared/openai-request.ts'
import { assistantParts, contentIn } from './parts-in.ts'

const dialect = 'openai-chat'

/** A chat completion request (OpenAI API reference, "Create chat completion"). Throws GatewayError (400). */
export function decodeRequest(wire: JsonObject, address: RequestAddress = {}): Conversation {
  const body = new Fields(wire, '')
  const { system, messages } = messagesIn(body)
  const search = body.fields('web_search_options')
  const tools = [
    ...(body.each('tools') ?? []).map(toolIn),
    ...(body.each('functions') ?? []).map((tool) => functionIn(tool)),
    ...(search ? [searchIn(search, dialect)] : []),
  ]
  const choice = choiceIn(body)
  const format = formatIn(body.fields('response_format'))
  const reasoning = reasoningIn(body)
  const output = outputIn(body)
  const stop = stopIn(body)
  const stream = body.flag('stream') ?? false
  return {
    from: dialect,
    model: body.text('model') ?? address.model ?? body.needText('model'),
    stream,
    wantsStreamUsage: body.fields('stream_options')?.flag('include_usage') ?? false,
    system,
    messages,
    tools,
    ...(choice && { toolChoice: choice }),
    ...(format && { format }),
    ...(reasoning && { reasoning }),
    ...(output && { output }),
    maxTokens: body.count('max_completion_tokens') ?? body.count('max_tokens'),
    topK: body.number('top_k'),
    frequencyPenalty: body.number('frequency_penalty'),
    presencePenalty: body.number('presence_penalty'),
    // Mistral's name for the seed.
    seed: body.number('seed') ?? body.number('random_seed'),
    choices: body.count('n'),
    logprobs: body.flag('logprobs'),
    verbosity: body.text('verbosity'),
    ...(stop && { stop }),
    ...commonIn(body),
    ...(body.list('functions') && { oldFunctions: true }),
    ...leftOf(body, dialect),
  }
}

function stopIn(body: Fields): string[] | undefined {
  const stop = body.raw('stop')
  return typeof stop === 'string' ? [stop] : body.texts('stop')
}

function messagesIn(body: Fields): { system: TextPart[]; messages: Message[] } {
  const list = body.each('messages')
  if (!list || list.length === 0) throw missingField('messages')
  const system: TextPart[] = []
  const messages: Message[] = []
  const old: string[] = []
  // The results of parallel calls form one turn. While the last turn contains only results, `results` is its list of
  // parts, to which further results are added.
  let results: Part[] | undefined
  const newCall = () => {
    old.push(`call_${old.length + 1}`)
    return old.at(-1) ?? ''
  }
  for (const message of list) {
    const role = message.needText('role')
    if ((role === 'system' || role === 'developer') && messages.length === 0) {
      // Parts are added one by one, because a caller may send more parts than JavaScript allows as arguments of one
      // call.
      for (const part of systemIn(message)) system.push(part)
    } else if (role === 'tool' || role === 'function') {
      if (!results) {
        results = []
        messages.push({ role: 'user', parts: results })
      }
      results.push(resultIn(message, role, old))
    } else {
      const turn = messageIn(message, role, newCall)
      messages.push(turn)
      results = turn.role === 'user' && turn.parts.length === 0 ? turn.parts : undefined
    }
  }
  return { system, messages }
}

function systemIn(message: Fields): TextPart[] {
  const cache = cacheIn(message)
  message.text('name')
  return contentIn(message).map((part) => {
    if (part.type === 'text') return { ...part, ...cache }
    throw wrongField(message.at('content'), 'text only')
  })
}

function messageIn(message: Fields, role: string, newCall: () => string): Message & { parts: Part[] } {
  if (role !== 'user' && role !== 'assistant' && role !== 'system' && role !== 'developer')
    throw wrongField(message.at('role'), 'one of system, developer, user, assistant, tool, function')
  const name = message.text('name')
  const parts: Part[] = role === 'assistant' ? assistantParts(message, newCall) : contentIn(message)
  const { cache } = cacheIn(message)
  if (role === 'user' && message.raw('content') === undefined) throw missingField(message.at('content'))
  return {
    role: role === 'developer' ? 'system' : role,
    parts: cache ? marked(parts, cache) : parts,
    ...(name && { name }),
    ...message.native(dialect),
  }
}

/** A cache breakpoint on the whole message is treated as a breakpoint after its last part. */
function marked(parts: readonly Part[], cache: CacheMark): Part[] {
  const last = parts.at(-1)
  const canBe = last?.type === 'text' || last?.type === 'media' || last?.type === 'tool-call'
  return canBe ? [...parts.slice(0, -1), { ...last, cache }] : [...parts]
}

function resultIn(message: Fields, role: string, old: readonly string[]): ToolResultPart {
  const isOld = role === 'function'
  const callId = isOld ? (old.at(-1) ?? message.needText('name')) : message.needText('tool_call_id')
  message.text('name')
  return {
    type: 'tool-result',
    callId,
    content: contentIn(message).filter(
      (part) => part.type === 'text' || part.type === 'media' || part.type === 'native',
    ),
    ...cacheIn(message),
    ...message.native(dialect),
  }
}

function toolIn(tool: Fields): Tool {
  const type = tool.text('type')
  if (type === 'custom') {
    const custom = tool.fields('custom')
    if (!custom) throw missingField(tool.at('custom'))
    const description = custom.text('description')
    const format = custom.object('format')
    return {
      type: 'freeform',
      name: custom.needText('name'),
      ...(description !== undefined && { description }),
      ...(format && { format }),
    }
  }
  const declared = tool.fields('function')
  if (!declared && type !== undefined && type !== 'function') return { type: 'native', dialect, value: tool.whole() }
  if (!declared) throw missingField(tool.at('function'))
  return { ...functionIn(declared), ...cacheIn(tool) }
}

function functionIn(declared: Fields): Tool {
  const description = declared.text('description')
  const schema = declared.object('parameters')
  const strict = declared.flag('strict')
  return {
    type: 'function',
    name: declared.needText('name'),
    ...(description !== undefined && { description }),
    ...(schema && { schema }),
    ...(strict !== undefined && { strict }),
    ...declared.native(dialect),
  }
}

function choiceIn(body: Fields): ToolChoice | undefined {
  const choice = body.raw('tool_choice') ?? body.raw('function_call')
  if (choice === undefined) return undefined
  const field = body.raw('tool_choice') === undefined ? 'function_call' : 'tool_choice'
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice }
  // Mistral's name for `required`.
  if (choice === 'any') return { mode: 'required' }
  if (!isObject(choice)) throw wrongField(field, 'auto, none, required or an object')
  const fields = body.fields(field) ?? new Fields(choice, field)
  const allowed = fields.fields('allowed_tools')
  if (allowed) {
    const tools = (allowed.each('tools') ?? []).map(referenceIn)
    return { mode: 'allowed', tools, required: allowed.text('mode') === 'required' }
  }
  return { mode: 'tool', tool: referenceIn(fields) }
}

function referenceIn(tool: Fields): ToolReference {
  const custom = tool.fields('custom')
  const type = tool.text('type')
  const name = (tool.fields('function') ?? custom ?? tool).needText('name')
  return { type: 'named', name, ...((custom ?? type === 'custom') && { freeform: true }) }
}

function formatIn(format: Fields | undefined): ResponseFormat | undefined {
  if (!format) return undefined
  const type = format.word('type', ['text', 'json_object', 'json_schema'])
  if (type !== 'json_schema') return { type: type === 'json_object' ? 'json' : 'text' }
  const schema = format.fields('json_schema')
  if (!schema) throw missingField(format.at('json_schema'))
  const name = schema.text('name')
  const description = schema.text('description')
  const strict = schema.flag('strict')
  return {
    type: 'schema',
    schema: schema.object('schema') ?? {},
    ...(name && { name }),
    ...(description && { description }),
    ...(strict !== undefined && { strict }),
  }
}

/** Reads OpenAI's field, OpenRouter's object, and the `thinking` object of services that adopted Anthropic's format. */
function reasoningIn(body: Fields): ReasoningWish | undefined {
  const effort = effortIn(body, 'reasoning_effort')
  const router = body.fields('reasoning')
  const thinking = body.fields('thinking')
  if (router) {
    const routerEffort = effortIn(router, 'effort') ?? effort
    const budgetTokens = router.count('max_tokens')
    const hidden = router.flag('exclude')
    const enabled = router.flag('enabled')
    if (enabled === false) return { effort: 'none' }
    return {
      ...(routerEffort && { effort: routerEffort }),
      ...(budgetTokens !== undefined && { budgetTokens }),
      ...(enabled && { adaptive: true }),
      ...(hidden !== undefined && { visible: !hidden }),
    }
  }
  if (thinking?.text('type') === 'disabled') return { effort: 'none' }
  const budgetTokens = thinking?.count('budget_tokens')
  const adaptive = thinking && budgetTokens === undefined ? { adaptive: true } : {}
  if (effort || thinking) return { ...(effort && { effort }), budgetTokens, ...adaptive }
  return undefined
}

function outputIn(body: Fields): OutputWish | undefined {
  const modalities = body.texts('modalities')
  const audio = body.fields('audio')
  if (!modalities) return undefined
  const voice = audio?.raw('voice')
  const soundFormat = audio?.text('format')
  return {
    modalities,
    ...(typeof voice === 'string' && { voice }),
    ...(soundFormat && { soundFormat }),
  }
}
