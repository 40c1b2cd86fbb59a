import { isObject, type JsonObject } from '../../lib/json.ts'
import type {
  Conversation,
  OutputWish,
  ReasoningWish,
  ResponseFormat,
  Tool,
  ToolChoice,
  ToolReference,
} from '../neutral/conversation.ts'
import { Fields, leftOf, looseList, looseText, missingField, wrongField } from '../neutral/fields.ts'
import { commonIn, effortIn, searchIn } from '../openai-shared/openai-request.ts'
import { inputIn } from './items-in.ts'
import { FlatNames, spaceIn } from './namespaces.ts'

const dialect = 'openai-responses'
const logprobsInclude = 'message.output_text.logprobs'

/** A Responses API request (OpenAI API reference, "Create a model response"). Throws GatewayError (400). */
export function decodeRequest(wire: JsonObject): Conversation {
  const body = new Fields(wire, '')
  const instructions = body.text('instructions')
  const names = new FlatNames(body)
  const { system, messages } = inputIn(body, names)
  const text = body.fields('text')
  const choice = choiceIn(body, names)
  const format = formatIn(text?.fields('format'))
  const thinking = body.fields('reasoning')
  const reasoning = reasoningIn(thinking)
  const tools = (body.each('tools') ?? []).flatMap((tool) =>
    tool.text('type') === 'namespace' ? spaceIn(tool, names, toolIn) : [toolIn(tool)],
  )
  const output = outputIn(tools)
  return {
    from: dialect,
    model: body.needText('model'),
    stream: body.flag('stream') ?? false,
    wantsStreamUsage: true,
    system: [...(instructions ? [{ type: 'text', text: instructions } as const] : []), ...system],
    messages,
    tools,
    ...(choice && { toolChoice: choice }),
    ...(format && { format }),
    ...(reasoning && { reasoning }),
    ...(output && { output }),
    maxTokens: body.count('max_output_tokens'),
    verbosity: text?.text('verbosity'),
    // The Open Responses specification has these fields; OpenAI's own service does not.
    frequencyPenalty: body.number('frequency_penalty'),
    presencePenalty: body.number('presence_penalty'),
    ...(wantsLogprobs(wire) && { logprobs: true }),
    ...commonIn(body),
    ...leftOf(body, dialect),
  }
}

/** True if log probabilities are requested, either in the `include` list or with `top_logprobs`. */
function wantsLogprobs({ include, top_logprobs }: JsonObject): boolean {
  return Number(top_logprobs) > 0 || (Array.isArray(include) && include.includes(logprobsInclude))
}

function toolIn(tool: Fields): Tool {
  const type = tool.needText('type')
  if (isSearch(type)) {
    const search = searchIn(tool, dialect)
    return { ...search, native: { dialect, fields: { ...search.native?.fields, type } } }
  }
  if (type !== 'function' && type !== 'custom') return { type: 'native', dialect, value: tool.whole() }
  const name = tool.needText('name')
  const description = tool.text('description')
  if (type === 'custom') {
    const format = tool.object('format')
    const descriptionField = description === undefined ? {} : { description }
    return { type: 'freeform', name, ...descriptionField, ...(format && { format }), ...tool.native(dialect) }
  }
  const schema = tool.object('parameters')
  const strict = tool.flag('strict')
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    ...(schema && { schema }),
    ...(strict !== undefined && { strict }),
    ...tool.native(dialect),
  }
}

/** The requested output. In this dialect, a tool generates images. */
function outputIn(tools: readonly Tool[]): OutputWish | undefined {
  const makesImages = tools.some((tool) => tool.type === 'native' && tool.value['type'] === 'image_generation')
  return makesImages ? { modalities: ['text', 'image'] } : undefined
}

function choiceIn(body: Fields, names: FlatNames): ToolChoice | undefined {
  const choice = body.raw('tool_choice')
  if (choice === undefined) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { mode: choice }
  if (!isObject(choice)) throw wrongField('tool_choice', 'auto, none, required or an object')
  const fields = body.fields('tool_choice') ?? new Fields(choice, 'tool_choice')
  const type = fields.needText('type')
  if (type === 'allowed_tools') {
    const tools = (fields.each('tools') ?? []).flatMap((tool) => allowedIn(tool, body, names))
    return { mode: 'allowed', tools, required: fields.text('mode') === 'required' }
  }
  return { mode: 'tool', tool: referenceIn(fields, names) }
}

/** The tools that one entry of the list allows. A namespace allows all of its tools. */
function allowedIn(tool: Fields, body: Fields, names: FlatNames): ToolReference[] {
  if (tool.text('type') !== 'namespace') return [referenceIn(tool, names)]
  const space = tool.needText('name')
  const declared = looseList(body.value['tools']).find(({ type, name }) => type === 'namespace' && name === space)
  return looseList(declared?.['tools']).map(({ type, name }) => ({
    type: 'named',
    name: names.of(space, looseText(name)),
    ...(type === 'custom' && { freeform: true }),
  }))
}

function referenceIn(tool: Fields, names: FlatNames): ToolReference {
  const type = tool.needText('type')
  if (type === 'function' || type === 'custom') {
    const name = names.in(tool)
    return { type: 'named', name, ...(type === 'custom' && { freeform: true }) }
  }
  return { type: isSearch(type) ? 'web-search' : 'native', value: tool.whole() }
}

function isSearch(type: string): boolean {
  return /^web_search(?:_preview)?(?:_\d.*)?$/.test(type)
}

function formatIn(format: Fields | undefined): ResponseFormat | undefined {
  if (!format) return undefined
  const type = format.word('type', ['text', 'json_object', 'json_schema'])
  if (type === undefined) throw missingField(format.at('type'))
  if (type !== 'json_schema') return { type: type === 'json_object' ? 'json' : 'text' }
  const name = format.text('name')
  const description = format.text('description')
  const strict = format.flag('strict')
  return {
    type: 'schema',
    schema: format.object('schema') ?? {},
    ...(name && { name }),
    ...(description && { description }),
    ...(strict !== undefined && { strict }),
  }
}

function reasoningIn(reasoning: Fields | undefined): ReasoningWish | undefined {
  if (!reasoning) return undefined
  const effort = effortIn(reasoning, 'effort')
  const summary = reasoning.text('summary') ?? reasoning.text('generate_summary')
  return { ...(effort && { effort }), ...(summary && { summary }), visible: summary !== undefined }
}
