import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'

/**
 * A permitted difference between a request and the result of decoding and encoding it again. `apply` removes the
 * difference from both before they are compared.
 */
export interface Difference {
  says: string
  apply(wire: JsonObject): JsonObject
}

const objects = (value: unknown) => (Array.isArray(value) ? (value as unknown[]).filter(isObject) : [])
const each = (value: unknown, apply: (item: JsonObject) => JsonObject) =>
  Array.isArray(value) ? (value as unknown[]).map((item) => (isObject(item) ? apply(item) : item)) : value
const without = (wire: JsonObject, ...names: string[]) =>
  Object.fromEntries(Object.entries(wire).filter(([name]) => !names.includes(name)))
const renamed = (wire: JsonObject, from: string, to: string) =>
  wire[from] === undefined ? wire : { ...without(wire, from), [to]: wire[from] }
const noStream: Difference = {
  says: 'stream: false is what is meant by saying nothing',
  apply: (wire) => (wire['stream'] === false ? without(wire, 'stream') : wire),
}
const textOf = (content: unknown) =>
  typeof content === 'string'
    ? content
    : objects(content)
        .map((part) => String(part['text'] ?? ''))
        .join('')
const isPlain = (parts: unknown) =>
  objects(parts).length > 0 && objects(parts).every((part) => part['type'] === 'text' && Object.keys(part).length === 2)

const anthropic: Difference[] = [
  noStream,
  {
    says: 'a text is a list of one text block',
    apply: (wire) => {
      const list = (value: unknown) =>
        typeof value === 'string' ? (value === '' ? [] : [{ type: 'text', text: value }]) : value
      const block = (item: JsonObject): JsonObject =>
        item['type'] === 'tool_result' ? { ...item, content: list(item['content']) } : item
      const message = (item: JsonObject) => ({ ...item, content: each(list(item['content']), block) })
      return { ...wire, system: list(wire['system']), messages: each(wire['messages'], message) }
    },
  },
  {
    says: 'a message without content is left out, since the API refuses it',
    apply: (wire) => ({
      ...wire,
      messages: objects(wire['messages']).filter(({ content }) => Array.isArray(content) && content.length > 0),
    }),
  },
  {
    says: 'is_error: false is what is meant by saying nothing',
    apply: (wire) => ({
      ...wire,
      messages: each(wire['messages'], (message) => ({
        ...message,
        content: each(message['content'], (block) =>
          block['is_error'] === false ? without(block, 'is_error') : block,
        ),
      })),
    }),
  },
  {
    says: 'output_format is the older name of output_config.format',
    apply: (wire) =>
      wire['output_format']
        ? { ...without(wire, 'output_format'), output_config: { format: wire['output_format'] } }
        : wire,
  },
  {
    says: 'the model stands in the address on Vertex',
    apply: (wire) => ({ ...wire, model: wire['model'] ?? 'address' }),
  },
]

const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
/** The objects in these fields are defined by the caller, not by Google, so their own field names are kept. */
const ownNames = new Set(['args', 'response', 'properties', 'parametersJsonSchema', 'responseJsonSchema', 'labels'])
function camelised(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(camelised)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [camel(name), ownNames.has(camel(name)) ? inner : camelised(inner)]),
  )
}
function lowered(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(lowered)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      camel(name),
      name === 'type' && typeof inner === 'string'
        ? inner.toLowerCase()
        : name === 'properties'
          ? propertied(inner)
          : lowered(inner),
    ]),
  )
}
const propertied = (value: unknown) =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, lowered(inner)])) : value

const google: Difference[] = [
  { says: 'names in snake_case are those in camelCase', apply: (wire) => camelised(wire) as JsonObject },
  { says: 'the model stands in the address', apply: (wire) => without(wire, 'model') },
  {
    says: "Google's Schema is written as JSON Schema",
    apply: (wire) => {
      const config = isObject(wire['generationConfig']) ? wire['generationConfig'] : {}
      const declared = (item: JsonObject) =>
        item['parameters']
          ? { ...without(item, 'parameters'), parametersJsonSchema: lowered(item['parameters']) }
          : item
      const tool = (item: JsonObject) =>
        item['functionDeclarations']
          ? { ...item, functionDeclarations: each(item['functionDeclarations'], declared) }
          : item
      const responseJsonSchema = config['responseJsonSchema'] ?? lowered(config['responseSchema'])
      const tools = isObject(wire['tools']) ? [wire['tools']] : wire['tools']
      return {
        ...wire,
        tools: each(tools, tool),
        generationConfig: {
          ...without(config, 'responseSchema'),
          ...(responseJsonSchema ? { responseJsonSchema } : {}),
        },
      }
    },
  },
  {
    says: 'the order of tools is functions first',
    apply: (wire) => ({
      ...wire,
      tools: objects(wire['tools']).sort(
        (a, b) => Number('functionDeclarations' in b) - Number('functionDeclarations' in a),
      ),
    }),
  },
  {
    says: 'levels of thinking are written in capitals',
    apply: (wire) => {
      const config = isObject(wire['generationConfig']) ? wire['generationConfig'] : {}
      const thinking = config['thinkingConfig']
      if (!isObject(thinking) || typeof thinking['thinkingLevel'] !== 'string') return wire
      const thinkingLevel = thinking['thinkingLevel'].toUpperCase()
      return { ...wire, generationConfig: { ...config, thinkingConfig: { ...thinking, thinkingLevel } } }
    },
  },
  {
    says: 'system instructions have no role',
    apply: (wire) =>
      isObject(wire['systemInstruction'])
        ? { ...wire, systemInstruction: without(wire['systemInstruction'], 'role') }
        : wire,
  },
  {
    says: 'a text that says nothing is left out',
    apply: (wire) => ({
      ...wire,
      contents: each(wire['contents'], (content) => ({
        ...content,
        parts: objects(content['parts']).filter((part) => part['text'] !== '' || Object.keys(part).length > 1),
      })),
    }),
  },
  {
    says: 'settings without any setting are left out',
    apply: (wire) =>
      Object.keys(isObject(wire['generationConfig']) ? wire['generationConfig'] : {}).length === 0
        ? without(wire, 'generationConfig')
        : wire,
  },
]

const responses: Difference[] = [
  noStream,
  {
    says: 'a text is one message of the user, and an item without a type is a message',
    apply: (wire) => {
      const input = typeof wire['input'] === 'string' ? [{ role: 'user', content: wire['input'] }] : wire['input']
      return { ...wire, input: each(input, (item) => ({ type: 'message', ...item })) }
    },
  },
  {
    says: 'the content of a message as a text is a list of one part',
    apply: (wire) => ({
      ...wire,
      input: each(wire['input'], (item) => {
        const type = item['role'] === 'assistant' ? 'output_text' : 'input_text'
        return typeof item['content'] === 'string' ? { ...item, content: [{ type, text: item['content'] }] } : item
      }),
    }),
  },
  {
    says: 'what the system says at the start are instructions',
    apply: (wire) => {
      const items = objects(wire['input'])
      const first = items.findIndex(({ role }) => role !== 'system' && role !== 'developer')
      const system = items.slice(0, first < 0 ? items.length : first)
      const instructions = [wire['instructions'], ...system.map(({ content }) => textOf(content))]
        .filter(Boolean)
        .join('\n\n')
      return {
        ...without(wire, 'instructions'),
        ...(instructions && { instructions }),
        input: items.slice(system.length),
      }
    },
  },
  {
    says: 'a message of the model without words is left out, and a text of it has no probabilities',
    apply: (wire) => ({
      ...wire,
      input: objects(wire['input'])
        .map((item): JsonObject => ({ ...item, content: each(item['content'], (part) => without(part, 'logprobs')) }))
        .filter((item) => item['role'] !== 'assistant' || textOf(item['content']) !== ''),
    }),
  },
  {
    says: 'generate_summary is the older name of summary',
    apply: (wire) =>
      isObject(wire['reasoning'])
        ? { ...wire, reasoning: renamed(wire['reasoning'], 'generate_summary', 'summary') }
        : wire,
  },
  {
    says: 'a thought that is shown whole needs no summary',
    apply: (wire) => ({
      ...wire,
      input: each(wire['input'], (item) =>
        item['type'] === 'reasoning' && item['content'] ? without(item, 'summary') : item,
      ),
    }),
  },
  {
    says: 'several summaries of one thought are one',
    apply: (wire) => ({
      ...wire,
      input: each(wire['input'], (item) => {
        const summary = objects(item['summary'])
        const text = summary.map((part) => String(part['text'])).join('\n\n')
        return summary.length > 1 ? { ...item, summary: [{ type: 'summary_text', text }] } : item
      }),
    }),
  },
]

const chat: Difference[] = [
  noStream,
  { says: "the model stands in Azure's address", apply: (wire) => ({ ...wire, model: wire['model'] ?? 'address' }) },
  {
    says: 'the limit has the name that the model knows',
    apply: (wire) => renamed(wire, 'max_completion_tokens', 'max_tokens'),
  },
  {
    says: 'developer is the newer name of system, and what the system says at the start is one message',
    apply: (wire) => {
      const messages = objects(wire['messages']).map((item) =>
        item['role'] === 'developer' ? { ...item, role: 'system' } : item,
      )
      const first = messages.findIndex(({ role }) => role !== 'system')
      const system = messages.slice(0, first < 0 ? messages.length : first)
      const rest = messages.slice(system.length)
      const text = system.map(
        ({ content }) =>
          objects(content)
            .map((part) => String(part['text']))
            .join('\n\n') || textOf(content),
      )
      return { ...wire, messages: system.length > 0 ? [{ role: 'system', content: text.join('\n\n') }, ...rest] : rest }
    },
  },
  {
    says: 'a mark for the cache is one behind the last part, and both names of it are one',
    apply: (wire) => {
      const unmarked = (item: JsonObject) => without(item, 'cache_control', 'prompt_cache_breakpoint')
      return {
        ...wire,
        messages: each(wire['messages'], (item) => unmarked({ ...item, content: each(item['content'], unmarked) })),
      }
    },
  },
  {
    says: 'texts in a list are one text where nothing else is in it; no text is an empty one',
    apply: (wire) => ({
      ...wire,
      messages: each(wire['messages'], (item) => {
        const content =
          isPlain(item['content']) && (item['role'] !== 'user' || objects(item['content']).length === 1)
            ? textOf(item['content'])
            : item['content']
        return content === '' || content === null ? without(item, 'content') : { ...item, content }
      }),
    }),
  },
  {
    says: 'what was thought goes back in the form of the upstream',
    apply: (wire) => ({
      ...wire,
      messages: each(wire['messages'], (item) => {
        const text = textOf(item['reasoning_content']) || textOf(item['reasoning'])
        const details = objects(item['reasoning_details']).map(
          (detail) => textOf(detail['text']) + textOf(detail['summary']),
        )
        const told = text || details.join('')
        const rest = without(item, 'reasoning', 'reasoning_details', 'reasoning_content')
        return told === '' ? rest : { ...rest, reasoning_content: told }
      }),
    }),
  },
  {
    says: "other services' settings for thinking are written as OpenAI's effort",
    apply: (wire) => without(wire, 'reasoning', 'thinking', 'reasoning_effort'),
  },
  {
    says: 'functions are tools',
    apply: (wire) => {
      const functions = objects(wire['functions']).map((item) => ({ type: 'function', function: item }))
      const tools = [...objects(wire['tools']).map((item) => ({ type: 'function', ...item })), ...functions]
      return { ...renamed(without(wire, 'functions', 'tools'), 'function_call', 'tool_choice'), tools }
    },
  },
  {
    says: 'any is required; the number of a call in a history says nothing',
    apply: (wire) => ({
      ...wire,
      tool_choice: wire['tool_choice'] === 'any' ? 'required' : wire['tool_choice'],
      messages: each(wire['messages'], (item) => ({
        ...item,
        tool_calls: each(item['tool_calls'], (call) => ({ type: 'function', ...without(call, 'index') })),
      })),
    }),
  },
  { says: "random_seed is Mistral's name of seed", apply: (wire) => renamed(wire, 'random_seed', 'seed') },
  {
    says: "tiers that are not OpenAI's are left to the service",
    apply: (wire) => (wire['service_tier'] === 'on_demand' ? { ...wire, service_tier: 'auto' } : wire),
  },
  {
    says: 'a schema without a name is called answer',
    apply: (wire) => {
      const format = wire['response_format']
      if (!isObject(format) || !isObject(format['json_schema'])) return wire
      return { ...wire, response_format: { ...format, json_schema: { name: 'answer', ...format['json_schema'] } } }
    },
  },
]

/** All stated differences, by dialect. */
export const differences: Readonly<Record<DialectName, readonly Difference[]>> = {
  'anthropic-messages': anthropic,
  gemini: google,
  'openai-responses': responses,
  'openai-chat': chat,
}
