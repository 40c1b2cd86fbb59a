import type { JsonObject } from '../../lib/json.ts'
import type {
  Conversation,
  Effort,
  Message,
  ReasoningWish,
  ResponseFormat,
  Tool,
  ToolChoice,
  ToolReference,
} from '../neutral/conversation.ts'
import type { RequestAddress } from '../neutral/dialect.ts'
import { Fields, leftOf, missingField } from '../neutral/fields.ts'
import { cacheIn, contentIn, textIn } from './parts-in.ts'

const dialect = 'anthropic-messages'

/** A Messages request (Anthropic API reference, "Create a Message"). Throws GatewayError (400). */
export function decodeRequest(wire: JsonObject, address: RequestAddress = {}): Conversation {
  const body = new Fields(wire, '')
  const maxTokens = body.count('max_tokens')
  if (maxTokens === undefined && !address.countOnly) throw missingField('max_tokens')
  const outputConfig = body.fields('output_config')
  const choice = choiceIn(body.fields('tool_choice'), body)
  const userId = body.fields('metadata')?.text('user_id')
  const stop = body.texts('stop_sequences')
  const format = formatIn(outputConfig?.fields('format') ?? body.fields('output_format'))
  const reasoning = reasoningIn(body.fields('thinking'), outputConfig)
  const tier = body.text('service_tier')
  return {
    from: dialect,
    model: body.text('model') ?? address.model ?? body.needText('model'),
    stream: body.flag('stream') ?? false,
    wantsStreamUsage: true,
    system: systemIn(body),
    messages: messagesIn(body),
    tools: (body.each('tools') ?? []).map(toolIn),
    ...choice,
    ...(format && { format }),
    ...(reasoning && { reasoning }),
    maxTokens,
    temperature: body.number('temperature'),
    topP: body.number('top_p'),
    topK: body.count('top_k'),
    ...(stop && { stop }),
    ...(userId && { userId }),
    ...(tier && { serviceTier: tier === 'standard_only' ? 'standard' : 'auto' }),
    ...cacheIn(body),
    ...leftOf(body, dialect),
  }
}

function systemIn(body: Fields): Conversation['system'] {
  const system = body.raw('system')
  if (typeof system === 'string') return system === '' ? [] : [{ type: 'text', text: system }]
  return (body.each('system') ?? []).map(textIn)
}

function messagesIn(body: Fields): Message[] {
  const messages = body.each('messages')
  // With `thread`, a request continues a conversation that Anthropic has stored, and may have no messages of its own.
  const goesOn = body.value['thread'] !== undefined && body.value['thread'] !== null
  if (!messages || (messages.length === 0 && !goesOn)) throw missingField('messages')
  return messages.map((message) => {
    if (message.text('role') === undefined) throw missingField(message.at('role'))
    const role = message.word('role', ['user', 'assistant', 'system']) ?? 'user'
    return { role, parts: contentIn(message, true), ...message.native(dialect) }
  })
}

function toolIn(tool: Fields): Tool {
  const type = tool.text('type')
  if (isSearchTool(type)) {
    tool.text('name')
    const allowed = tool.texts('allowed_domains')
    const blocked = tool.texts('blocked_domains')
    const location = tool.object('user_location')
    return {
      type: 'web-search',
      maxUses: tool.count('max_uses'),
      ...(allowed && { allowedDomains: allowed }),
      ...(blocked && { blockedDomains: blocked }),
      ...(location && { location }),
      ...cacheIn(tool),
      native: { dialect, fields: { ...tool.native(dialect).native?.fields, type } },
    }
  }
  if (type !== undefined && type !== 'custom') return { type: 'native', dialect, value: tool.whole() }
  const strict = tool.flag('strict')
  const description = tool.text('description')
  const schema = tool.object('input_schema')
  return {
    type: 'function',
    name: tool.needText('name'),
    ...(description !== undefined && { description }),
    ...(schema && { schema }),
    ...(strict !== undefined && { strict }),
    ...cacheIn(tool),
    ...tool.native(dialect),
  }
}

function choiceIn(choice: Fields | undefined, body: Fields): Pick<Conversation, 'toolChoice' | 'parallelTools'> {
  if (!choice) return {}
  const single = choice.flag('disable_parallel_tool_use')
  return { toolChoice: modeIn(choice, body), ...(single !== undefined && { parallelTools: !single }) }
}

function modeIn(choice: Fields, body: Fields): ToolChoice {
  switch (choice.word('type', ['auto', 'any', 'tool', 'none'])) {
    case 'any':
      return { mode: 'required' }
    case 'tool':
      return { mode: 'tool', tool: referenceIn(choice.needText('name'), body) }
    case 'none':
      return { mode: 'none' }
    case 'auto':
      return { mode: 'auto' }
    default:
      throw missingField(choice.at('type'))
  }
}

/** In this dialect the built-in search tool is referred to by name, like every other tool. */
function referenceIn(name: string, body: Fields): ToolReference {
  const isSearch = body.each('tools')?.some(({ value }) => value['name'] === name && isSearchTool(value['type']))
  return isSearch ? { type: 'web-search' } : { type: 'named', name }
}

function isSearchTool(type: unknown): boolean {
  return typeof type === 'string' && type.startsWith('web_search_')
}

function formatIn(format: Fields | undefined): ResponseFormat | undefined {
  if (!format) return undefined
  format.word('type', ['json_schema'])
  return { type: 'schema', schema: format.object('schema') ?? {} }
}

function reasoningIn(thinking: Fields | undefined, outputConfig: Fields | undefined): ReasoningWish | undefined {
  const effort = outputConfig?.word('effort', ['low', 'medium', 'high', 'xhigh', 'max']) as Effort | undefined
  if (!thinking) return effort && { effort }
  const type = thinking.knownWord('type', ['disabled', 'enabled', 'adaptive'])
  // Any other type of thinking exists only in Anthropic's API, so it is ignored.
  if (type === undefined && thinking.value['type'] !== undefined) return effort && { effort }
  if (type === undefined) throw missingField(thinking.at('type'))
  if (type === 'disabled') return { effort: 'none' }
  const display = thinking.text('display')
  const visible = display === undefined ? {} : { visible: display !== 'omitted' }
  if (type === 'enabled')
    return { ...(effort && { effort }), budgetTokens: thinking.count('budget_tokens'), ...visible }
  return { ...(effort && { effort }), adaptive: true, ...visible }
}
