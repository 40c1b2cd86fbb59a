// A tool that the caller has not allowed is never offered. A tool that must be used is required if the service can
// express that.
import { describe, expect, test } from 'bun:test'
import { bedrockConverse } from '../../server/dialects/bedrock-converse/index.ts'
import { cohereChat } from '../../server/dialects/cohere-chat/index.ts'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import type { EncodeOptions, UpstreamDialect } from '../../server/dialects/neutral/dialect.ts'
import { ollamaChat } from '../../server/dialects/ollama-chat/index.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { dialects } from '../helpers/dialects.ts'

const least: Readonly<Record<DialectName, JsonObject>> = {
  'openai-chat': { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  'openai-responses': { model: 'm', input: 'Hi' },
  'anthropic-messages': { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
}

/** A request and its tools, after translation from one dialect to another. */
function moved(from: DialectName, asked: JsonObject, to: UpstreamDialect, options?: EncodeOptions) {
  const conversation = dialects[from].decodeRequest({ ...least[from], ...asked }, { model: 'claude-sonnet-4-5' })
  const { body, dropped } = to.encodeRequest({ ...conversation, model: 'claude-sonnet-4-5' }, options)
  const wire = JSON.parse(JSON.stringify(body)) as JsonObject
  return { wire, dropped, tools: namesOf(wire) }
}

/** The names of the tools in a request of any dialect. */
function namesOf(wire: JsonObject): unknown[] {
  const list = (wire['tools'] ?? (wire['toolConfig'] as JsonObject | undefined)?.['tools'] ?? []) as JsonObject[]
  return list.flatMap((tool) => {
    const declared = tool['functionDeclarations'] as JsonObject[] | undefined
    if (declared) return declared.map(({ name }) => name)
    const inner = (tool['function'] ?? tool['custom'] ?? tool['toolSpec'] ?? tool) as JsonObject
    return [inner['name'] ?? inner['type'] ?? Object.keys(inner)[0]]
  })
}

const openai = { freeformTools: true }
const responsesTools = [
  { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } },
  { type: 'function', name: 'erase', parameters: { type: 'object', properties: {} } },
  { type: 'custom', name: 'patch' },
  { type: 'web_search' },
]
const allow = (mode: string, ...tools: JsonObject[]) => ({
  tools: responsesTools,
  tool_choice: { type: 'allowed_tools', mode, tools },
})
const { 'anthropic-messages': messages, 'openai-chat': chat, 'openai-responses': responses, gemini } = dialects

describe('when the caller allows only the web search', () => {
  const asked = allow('required', { type: 'web_search' })

  test('Anthropic is offered only the search and must use it', () => {
    const { wire, tools, dropped } = moved('openai-responses', asked, messages)
    expect(tools).toEqual(['web_search'])
    expect(wire['tool_choice']).toEqual({ type: 'any' })
    expect(dropped).toEqual([])
  })

  test('Google is offered only the search, but cannot be forced to use it', () => {
    const { wire, tools, dropped } = moved('openai-responses', asked, gemini)
    expect(tools).toEqual(['googleSearch'])
    expect(wire['toolConfig']).toBeUndefined()
    expect(dropped).toEqual(['tool_choice'])
  })

  test.each([
    ['a chat service', chat, undefined, { tool_choice: 'none' }],
    ["OpenAI's chat", chat, openai, { tool_choice: 'none' }],
    ['Cohere', cohereChat, undefined, { tool_choice: 'NONE' }],
    ['Bedrock', bedrockConverse, undefined, {}],
    ['Ollama', ollamaChat, undefined, {}],
  ] as const)(
    'for %s, which has no search, no tool is called, and both fields are reported as dropped',
    (_, to, options, choice) => {
      const { wire, dropped } = moved('openai-responses', asked, to, options)
      expect(wire).toMatchObject(choice)
      expect(wire['tool_choice'] === undefined ? namesOf(wire) : []).toEqual([])
      expect(dropped).toEqual(expect.arrayContaining(['tools.web_search', 'tool_choice']))
    },
  )

  test('a chat model with web search gets the search option, and a tool choice that forbids calls of functions', () => {
    const { wire, dropped } = moved('openai-responses', asked, chat, { webSearch: true })
    expect(wire).toMatchObject({ web_search_options: {}, tool_choice: 'none' })
    expect(dropped).toEqual([])
  })
})

describe('when the caller allows some functions', () => {
  const one = allow('auto', { type: 'function', name: 'look' }, { type: 'custom', name: 'patch' })

  test('every service is offered only the allowed functions', () => {
    for (const to of [messages, chat, cohereChat, ollamaChat, bedrockConverse])
      expect([to.name, moved('openai-responses', one, to).tools]).toEqual([to.name, ['look', 'patch']])
  })

  test('OpenAI’s chat gets the list of allowed tools, with their kinds, and does not search', () => {
    const { wire } = moved('openai-responses', one, chat, { ...openai, webSearch: true })
    const tools = [
      { type: 'function', function: { name: 'look' } },
      { type: 'custom', custom: { name: 'patch' } },
    ]
    expect(wire['tool_choice']).toEqual({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } })
    expect(wire['web_search_options']).toBeUndefined()
  })

  test('a service that might not support a list of allowed tools gets only the allowed tools, and must call one of them if the caller requires a call', () => {
    const { wire, tools } = moved('openai-responses', allow('required', { type: 'function', name: 'look' }), chat)
    expect([tools, wire['tool_choice']]).toEqual([['look'], 'required'])
  })

  test('Google gets the names of the allowed functions, and does not search', () => {
    const { wire, tools, dropped } = moved('openai-responses', one, gemini)
    expect(tools).not.toContain('googleSearch')
    expect(wire['toolConfig']).toEqual({
      functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['look', 'patch'] },
    })
    expect(dropped).toEqual([])
  })

  test('a search that a Google caller declared stays allowed beside the functions, unless a function must be called', () => {
    const declared = [
      { functionDeclarations: [{ name: 'look' }, { name: 'erase' }, { name: 'find' }] },
      { googleSearch: {} },
    ]
    const asked = (mode: string) => ({
      tools: declared,
      toolConfig: { functionCallingConfig: { mode, allowedFunctionNames: ['look', 'find'] } },
    })
    expect(moved('gemini', asked('VALIDATED'), messages).tools).toEqual(['look', 'find', 'web_search'])
    expect(moved('gemini', asked('ANY'), messages).tools).toEqual(['look', 'find'])
  })
})

describe('a free-text tool of OpenAI’s chat', () => {
  const tools = [
    { type: 'function', function: { name: 'look' } },
    { type: 'custom', custom: { name: 'patch' } },
  ]
  const allowed = [
    { type: 'custom', custom: { name: 'patch' } },
    { type: 'function', function: { name: 'look' } },
  ]

  test('can be one of the allowed tools', () => {
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: allowed } }
    const asked = { tools, tool_choice: choice }
    expect(moved('openai-chat', asked, responses).wire['tool_choice']).toEqual({
      type: 'allowed_tools',
      mode: 'required',
      tools: [
        { type: 'custom', name: 'patch' },
        { type: 'function', name: 'look' },
      ],
    })
    expect(moved('openai-chat', asked, messages).wire['tool_choice']).toEqual({ type: 'any' })
    expect(moved('openai-chat', asked, chat, openai).wire['tool_choice']).toEqual(choice)
  })

  test('can be required', () => {
    const asked = { tools, tool_choice: { type: 'custom', custom: { name: 'patch' } } }
    expect(moved('openai-chat', asked, responses).wire['tool_choice']).toEqual({ type: 'custom', name: 'patch' })
    expect(moved('openai-chat', asked, chat, openai).wire['tool_choice']).toEqual(asked.tool_choice)
    expect(moved('openai-chat', asked, chat, {}).wire['tool_choice']).toEqual({
      type: 'function',
      function: { name: 'patch' },
    })
    expect(moved('openai-chat', asked, messages).wire['tool_choice']).toEqual({ type: 'tool', name: 'patch' })
  })
})

describe('a built-in tool whose use is required', () => {
  test('is required on Anthropic if a caller of the Responses API requires it', () => {
    const asked = { tools: responsesTools, tool_choice: { type: 'web_search' } }
    const { wire, dropped } = moved('openai-responses', asked, messages)
    expect(wire['tool_choice']).toEqual({ type: 'tool', name: 'web_search' })
    expect(dropped).toEqual([])
  })

  test('is required on OpenAI if an Anthropic caller names it', () => {
    const tools = [
      { name: 'look', input_schema: { type: 'object' } },
      { type: 'web_search_20250305', name: 'web_search' },
    ]
    const asked = { tools, tool_choice: { type: 'tool', name: 'web_search' } }
    expect(moved('anthropic-messages', asked, responses).wire['tool_choice']).toEqual({ type: 'web_search' })
    expect(moved('anthropic-messages', asked, chat).wire['tool_choice']).toBe('none')
    expect(moved('anthropic-messages', asked, chat).dropped).toEqual(['tools.web_search', 'tool_choice'])
    expect(moved('anthropic-messages', asked, gemini).tools).toEqual(['googleSearch'])
  })

  test.each([{ type: 'file_search' }, { type: 'mcp', server_label: 'wiki' }, { type: 'image_generation' }])(
    'does not force another tool on a service that lacks it: %j',
    (choice) => {
      const hosted = { ...choice, vector_store_ids: ['vs_1'] }
      const asked = { tools: [...responsesTools.slice(0, 2), hosted], tool_choice: choice }
      expect(moved('openai-responses', asked, messages).wire['tool_choice']).toEqual({ type: 'none' })
      expect(moved('openai-responses', asked, chat).wire['tool_choice']).toBe('none')
      expect(moved('openai-responses', asked, gemini).wire['toolConfig']).toEqual({
        functionCallingConfig: { mode: 'NONE' },
      })
      expect(moved('openai-responses', asked, chat).dropped).toContain('tool_choice')
      expect(moved('openai-responses', asked, responses).wire['tool_choice']).toEqual(choice)
    },
  )

  test('that only Anthropic has is not turned into a function for others', () => {
    const tools = [
      { name: 'look', input_schema: { type: 'object' } },
      { type: 'bash_20250124', name: 'bash' },
    ]
    const asked = { tools, tool_choice: { type: 'tool', name: 'bash' } }
    expect(moved('anthropic-messages', asked, chat).wire['tool_choice']).toBe('none')
    expect(moved('anthropic-messages', asked, messages).wire['tool_choice']).toEqual(asked.tool_choice)
  })
})
