// Any part of a request that another dialect cannot express is reported by name, whatever field it is in. The gateway
// finds these parts without a list of known fields.
import { describe, expect, test } from 'bun:test'
import { bedrockConverse } from '../../server/dialects/bedrock-converse/index.ts'
import { cohereChat } from '../../server/dialects/cohere-chat/index.ts'
import { ernie } from '../../server/dialects/ernie/index.ts'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import type { UpstreamDialect } from '../../server/dialects/neutral/dialect.ts'
import { ollamaChat } from '../../server/dialects/ollama-chat/index.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { dialects } from '../helpers/dialects.ts'

const pixel = 'iVBORw0KGgo='
const schema = { type: 'object', properties: { at: { type: 'string' } } }

/** A request in each dialect, with every kind of object that the decoder reads. */
const rich: Readonly<Record<DialectName, JsonObject>> = {
  'openai-chat': {
    model: 'm',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look', cache_control: { type: 'ephemeral' } },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'It.' },
    ],
    tools: [
      { type: 'function', function: { name: 'look', parameters: schema } },
      { type: 'custom', custom: { name: 'patch', format: { type: 'text' } } },
    ],
    tool_choice: { type: 'function', function: { name: 'look' } },
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    web_search_options: { filters: { allowed_domains: ['a.org'] } },
    reasoning: { effort: 'low' },
  },
  'openai-responses': {
    model: 'm',
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.', annotations: [] }] },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'It.' }] },
    ],
    tools: [
      { type: 'function', name: 'look', parameters: schema },
      { type: 'web_search', filters: { allowed_domains: ['a.org'] } },
    ],
    tool_choice: { type: 'function', name: 'look' },
    text: { format: { type: 'json_schema', name: 'answer', schema } },
    reasoning: { effort: 'low' },
  },
  'anthropic-messages': {
    model: 'm',
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' } },
          {
            type: 'document',
            source: { type: 'content', content: [{ type: 'text', text: 'A page' }] },
            citations: { enabled: false },
          },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'It.' }] }],
      },
    ],
    tools: [
      { name: 'look', input_schema: schema },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'tool', name: 'look' },
    thinking: { type: 'enabled', budget_tokens: 2048 },
    output_config: { format: { type: 'json_schema', schema } },
    metadata: { user_id: 'u' },
  },
  gemini: {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      {
        role: 'user',
        parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: pixel } }],
      },
      { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              name: 'look',
              response: { output: 'It.' },
              parts: [{ inlineData: { mimeType: 'image/png', data: pixel } }],
            },
          },
        ],
      },
    ],
    tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: schema }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
    generationConfig: {
      thinkingConfig: { thinkingBudget: 1024 },
      responseModalities: ['TEXT'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    },
  },
}

/** Objects whose field names the caller can choose freely. */
const opaque = new Set([
  ...['parameters', 'input_schema', 'parametersJsonSchema', 'schema', 'input', 'args', 'response', 'format'],
  ...['filters', 'annotations'],
])
const isOpaque = (name: string, value: unknown) =>
  opaque.has(name) && !(name === 'format' && isObject(value) && 'schema' in value) && !Array.isArray(value)

/** Every copy of a value in which one of its objects has an unknown field, with the path of that object. */
function* withUnknown(value: unknown, place = ''): Generator<{ copy: unknown; place: string }> {
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries())
      for (const inner of withUnknown(each, place)) yield { ...inner, copy: value.with(at, inner.copy) }
  } else if (isObject(value)) {
    yield { copy: { ...value, novelty: 1 }, place: place === '' ? 'novelty' : `${place}.novelty` }
    for (const [name, each] of Object.entries(value)) {
      if (isOpaque(name, each)) continue
      const at = place === '' ? name : `${place}.${name}`
      for (const inner of withUnknown(each, at)) yield { ...inner, copy: { ...value, [name]: inner.copy } }
    }
  }
}

const names = Object.keys(dialects) as DialectName[]
const upstreams: readonly UpstreamDialect[] = [...Object.values(dialects), bedrockConverse, cohereChat, ollamaChat]

/**
 * Services that accept only text. The tests remove media from the requests to them, because the encoders refuse media.
 */
const plain: ReadonlySet<string> = new Set(['cohere-chat', 'ollama-chat'])
const isMedium = ({ type, inlineData }: JsonObject) =>
  inlineData !== undefined || /^(?:image|image_url|document|file|input_image|input_file)$/.test(String(type))

function withoutMedia(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => !(isObject(each) && isMedium(each))).map(withoutMedia)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutMedia(each)]))
}

function droppedOf(from: DialectName, wire: JsonObject, to: UpstreamDialect): readonly string[] {
  const conversation = dialects[from].decodeRequest(wire, { model: 'claude-sonnet-4-5' })
  return to.encodeRequest({ ...conversation, model: 'claude-sonnet-4-5' }).dropped
}

describe.each(names)('an unknown field in a %s request is reported by its path', (from) => {
  test.each(upstreams.filter(({ name }) => name !== from).map((to) => [to.name, to] as const))('to %s', (_, to) => {
    const whole = plain.has(to.name) ? withoutMedia(rich[from]) : rich[from]
    const silent = [...withUnknown(whole)].flatMap(({ copy, place }) => {
      const dropped = droppedOf(from, copy as JsonObject, to)
      return dropped.some((name) => name === place) ? [] : [{ place, dropped }]
    })
    expect(silent.map(({ place }) => place)).toEqual([])
  })
})

const anthropicTurn = (...content: JsonObject[]) => ({
  model: 'm',
  max_tokens: 4000,
  messages: [{ role: 'user', content }],
})
const toolTurns = (...content: JsonObject[]) => ({
  model: 'm',
  max_tokens: 4000,
  messages: [
    { role: 'user', content: 'Look' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content }] },
  ],
})
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } }
const readers = [dialects['openai-chat'], dialects['openai-responses'], dialects.gemini, bedrockConverse]

describe("a document in Anthropic's format that consists of blocks", () => {
  const document = {
    type: 'document',
    title: 'The report',
    context: 'Of last year',
    source: { type: 'content', content: [{ type: 'text', text: 'A page' }, image] },
  }

  test.each(readers.map((to) => [to.name, to] as const))('reaches %s with its title, context and images', (_, to) => {
    for (const wire of [anthropicTurn(document), toolTurns(document)]) {
      const conversation = dialects['anthropic-messages'].decodeRequest(wire)
      const { body, dropped } = to.encodeRequest({ ...conversation, model: 'gemini-3-pro' })
      const text = JSON.stringify(body)
      for (const said of ['The report', 'Of last year', 'A page', pixel]) expect(text).toContain(said)
      expect(dropped).toEqual([])
    }
  })

  test('is sent to Anthropic unchanged', () => {
    const conversation = dialects['anthropic-messages'].decodeRequest(anthropicTurn(document))
    const { body } = dialects['anthropic-messages'].encodeRequest(conversation)
    expect(body['messages']).toEqual([{ role: 'user', content: [document] }])
  })
})

describe('a feature that only Anthropic has', () => {
  const context = { type: 'document', source: pdf, context: 'Of last year' }
  const cited = { type: 'document', source: pdf, citations: { enabled: true } }
  test.each([
    ['the context of a document', anthropicTurn(context), 'messages.content.context'],
    ['the context of a document in a tool result', toolTurns(context), 'messages.content.content.context'],
    ['citations', anthropicTurn(cited), 'messages.content.citations.enabled'],
    [
      'the citations of a document that consists of blocks',
      anthropicTurn({ ...cited, source: { type: 'content', content: 'A page' } }),
      'messages.content.citations.enabled',
    ],
    [
      'a task budget',
      { ...anthropicTurn({ type: 'text', text: 'Hi' }), output_config: { task_budget: { type: 'tokens', total: 9 } } },
      'output_config.task_budget',
    ],
    [
      'thinking between tools',
      { ...anthropicTurn({ type: 'text', text: 'Hi' }), thinking: { type: 'between_tools' } },
      'thinking.type',
    ],
  ])('is reported by its path: %s', (_, wire, name) => {
    for (const to of readers.slice(0, 3))
      expect([to.name, droppedOf('anthropic-messages', wire, to)]).toEqual([to.name, [name]])
    const conversation = dialects['anthropic-messages'].decodeRequest(wire)
    expect(JSON.parse(JSON.stringify(dialects['anthropic-messages'].encodeRequest(conversation).body))).toMatchObject({
      ...wire,
      messages: expect.any(Array),
    })
  })

  test('an error result stays an error if the service’s format can express that; otherwise, it is reported as dropped', () => {
    const wire = toolTurns({ type: 'text', text: 'It broke.' })
    const result = { type: 'tool_result', tool_use_id: 'c1', content: 'It broke.', is_error: true }
    const failed = { ...wire, messages: [...wire.messages.slice(0, 2), { role: 'user', content: [result] }] }
    expect(droppedOf('anthropic-messages', failed, dialects['openai-chat'])).toEqual(['messages.content.is_error'])
    expect(droppedOf('anthropic-messages', failed, dialects['openai-responses'])).toEqual(['messages.content.is_error'])
    expect(droppedOf('anthropic-messages', failed, dialects.gemini)).toEqual([])
  })
})

describe('a feature that only Google has', () => {
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  test.each([
    [
      { toolConfig: { functionCallingConfig: { mode: 'AUTO', streamFunctionCallArguments: true } } },
      'toolConfig.functionCallingConfig.streamFunctionCallArguments',
    ],
    [
      { generationConfig: { thinkingConfig: { thinkingBudget: 1024, includeSketches: true } } },
      'generationConfig.thinkingConfig.includeSketches',
    ],
    [
      { generation_config: { thinking_config: { thinking_level: 'EXTREME' } } },
      'generationConfig.thinkingConfig.thinkingLevel',
    ],
    [
      {
        generationConfig: {
          responseModalities: ['TEXT'],
          speechConfig: { multiSpeakerVoiceConfig: { speakerVoiceConfigs: [] } },
        },
      },
      'generationConfig.speechConfig.multiSpeakerVoiceConfig',
    ],
    [
      { contents: [{ role: 'user', parts: [{ text: 'Hi', videoMetadata: { fps: 2 } }] }] },
      'contents.parts.videoMetadata',
    ],
    [{ serviceTier: 'SATURN' }, 'serviceTier'],
  ])('is reported by its path: %j', (asked, name) => {
    const wire = { contents, ...asked } as JsonObject
    for (const to of [dialects['openai-chat'], dialects['openai-responses'], dialects['anthropic-messages']])
      expect([to.name, droppedOf('gemini', wire, to)]).toEqual([to.name, [name]])
  })
})

describe('search options', () => {
  const options = {
    search_context_size: 'high',
    user_location: { type: 'approximate', approximate: { city: 'Berlin' } },
    filters: { allowed_domains: ['a.org'] },
  }
  const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], web_search_options: options }
  const responses = { model: 'm', input: 'Hi', tools: [{ type: 'web_search', search_context_size: 'low' }] }
  const limited = {
    ...anthropicTurn({ type: 'text', text: 'Hi' }),
    tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3, allowed_domains: ['a.org'] }],
  }

  test('are reported as dropped if they cannot be sent to the service', () => {
    const { gemini, 'anthropic-messages': messages, 'openai-responses': toResponses } = dialects
    expect(droppedOf('openai-chat', chat, messages)).toEqual(['web_search_options.search_context_size'])
    expect(droppedOf('openai-responses', responses, messages)).toEqual(['tools.search_context_size'])
    expect(droppedOf('openai-chat', chat, gemini)).toEqual([
      'web_search_options.search_context_size',
      'web_search_options.user_location',
      'web_search_options.filters',
    ])
    expect(droppedOf('anthropic-messages', limited, toResponses)).toEqual(['tools.max_uses'])
    expect(droppedOf('anthropic-messages', limited, gemini)).toEqual(['tools.max_uses', 'tools.allowed_domains'])
  })
})

describe('a setting that the service can only approximate is reported as dropped:', () => {
  const ask = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
  const { gemini, 'anthropic-messages': messages, 'openai-responses': responses } = dialects

  test('the level of detail of an image', () => {
    const image_url = { url: `data:image/png;base64,${pixel}`, detail: 'low' }
    const wire = { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url }] }] }
    expect(droppedOf('openai-chat', wire, messages)).toEqual(['messages.content.image_url.detail'])
    expect(droppedOf('openai-chat', wire, gemini)).toEqual(['messages.content.image_url.detail'])
    expect(droppedOf('openai-chat', wire, responses)).toEqual([])
  })

  test('strict tool schemas, and limits in the schema of the answer', () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: schema, strict: true } }]
    expect(droppedOf('openai-chat', { ...ask, tools }, gemini)).toEqual(['tools.function.strict'])
    expect(droppedOf('openai-chat', { ...ask, tools }, cohereChat)).toEqual(['tools.function.strict'])
    expect(droppedOf('openai-chat', { ...ask, tools }, messages)).toEqual([])
    const json_schema = { name: 'a', schema: { type: 'object', properties: { n: { type: 'number', minimum: 1 } } } }
    const asked = { ...ask, response_format: { type: 'json_schema', json_schema } }
    expect(droppedOf('openai-chat', asked, messages)).toEqual(['response_format.json_schema.schema'])
    expect(droppedOf('openai-chat', asked, gemini)).toEqual([])
  })

  test('the length of a reasoning summary', () => {
    const asked = { model: 'm', input: 'Hi', reasoning: { effort: 'low', summary: 'detailed' } }
    expect(droppedOf('openai-responses', asked, messages)).toEqual(['reasoning.summary'])
    expect(
      droppedOf('openai-responses', { ...asked, reasoning: { effort: 'low', summary: 'auto' } }, messages),
    ).toEqual([])
  })

  test('a number outside the service’s range', () => {
    const asked = { ...ask, temperature: 1.8, frequency_penalty: -1, top_p: 1 }
    expect(droppedOf('openai-chat', asked, cohereChat)).toEqual(['temperature', 'frequency_penalty'])
    expect(droppedOf('openai-chat', asked, ernie)).toEqual(expect.arrayContaining(['temperature']))
  })
})
