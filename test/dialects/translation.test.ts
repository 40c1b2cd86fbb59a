import { describe, expect, test } from 'bun:test'
import { bedrockConverse } from '../../server/dialects/bedrock-converse/index.ts'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import type { EncodeOptions } from '../../server/dialects/neutral/dialect.ts'
import { fitTools } from '../../server/dialects/wire/fit-tools.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { dialects } from '../helpers/dialects.ts'

/** A request in one dialect, as an upstream of another dialect receives it. */
function translated(from: DialectName, to: DialectName, wire: JsonObject, model = 'm', options: EncodeOptions = {}) {
  const conversation = dialects[from].decodeRequest({ model, ...wire }, { model })
  const fit = fitTools({ ...conversation, model }, dialects[to].toolRules)
  const { body, dropped } = dialects[to].encodeRequest(fit.conversation, options)
  return { body: JSON.parse(JSON.stringify(body)) as Record<string, never>, dropped }
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const chatTool = { type: 'function', function: { name: 'weather', description: 'The weather', parameters: schema } }

/** Two parallel calls and their results, as in OpenAI's function calling guide. */
const chatLoop: JsonObject = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Weather in Rome and Oslo?' },
    {
      role: 'assistant',
      content: 'Let me look.',
      tool_calls: [
        { id: 'call.1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
        { id: 'call.2', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call.1', content: 'sunny' },
    { role: 'tool', tool_call_id: 'call.2', content: '{"sky":"grey"}' },
  ],
  tools: [chatTool],
  tool_choice: 'required',
  parallel_tool_calls: false,
  max_tokens: 50,
}

describe('a tool loop in OpenAI’s chat', () => {
  test('is sent to Anthropic with the results in one turn, ids in the alphabet that Anthropic allows, and max_tokens', () => {
    const { body } = translated('openai-chat', 'anthropic-messages', chatLoop)
    expect(body).toEqual({
      model: 'm',
      max_tokens: 50,
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Weather in Rome and Oslo?' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'tgid_Y2FsbC4x', name: 'weather', input: { city: 'Rome' } },
            { type: 'tool_use', id: 'tgid_Y2FsbC4y', name: 'weather', input: { city: 'Oslo' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'tgid_Y2FsbC4x', content: 'sunny' },
            { type: 'tool_result', tool_use_id: 'tgid_Y2FsbC4y', content: '{"sky":"grey"}' },
          ],
        },
      ],
      tools: [{ name: 'weather', description: 'The weather', input_schema: schema }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    } as never)
  })

  test('is sent to Gemini with results as objects named after their function, and with Gemini’s placeholder on calls that it has not signed', () => {
    const { body, dropped } = translated('openai-chat', 'gemini', chatLoop, 'gemini-3-pro')
    expect(body).toEqual({
      contents: [
        { role: 'user', parts: [{ text: 'Weather in Rome and Oslo?' }] },
        {
          role: 'model',
          parts: [
            { text: 'Let me look.' },
            {
              functionCall: { id: 'call.1', name: 'weather', args: { city: 'Rome' } },
              thoughtSignature: 'skip_thought_signature_validator',
            },
            { functionCall: { id: 'call.2', name: 'weather', args: { city: 'Oslo' } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'call.1', name: 'weather', response: { output: 'sunny' } } },
            { functionResponse: { id: 'call.2', name: 'weather', response: { sky: 'grey' } } },
          ],
        },
      ],
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [
        { functionDeclarations: [{ name: 'weather', description: 'The weather', parametersJsonSchema: schema }] },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      generationConfig: { maxOutputTokens: 50 },
    } as never)
    expect(dropped).toEqual(['parallel_tool_calls'])
    const older = translated('openai-chat', 'gemini', chatLoop, 'gemini-2.5-flash').body
    expect(JSON.stringify(older)).not.toContain('thoughtSignature')
  })

  test('is sent to the Responses API as a list of items that is not stored, and a tool is strict only if the caller said so', () => {
    const { body } = translated('openai-chat', 'openai-responses', chatLoop)
    expect(body).toEqual({
      model: 'm',
      instructions: 'Be brief.',
      input: [
        { type: 'message', role: 'user', content: 'Weather in Rome and Oslo?' },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Let me look.', annotations: [] }],
        },
        { type: 'function_call', call_id: 'call.1', name: 'weather', arguments: '{"city":"Rome"}' },
        { type: 'function_call', call_id: 'call.2', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call_output', call_id: 'call.1', output: 'sunny' },
        { type: 'function_call_output', call_id: 'call.2', output: '{"sky":"grey"}' },
      ],
      tools: [{ type: 'function', name: 'weather', description: 'The weather', parameters: schema, strict: false }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      max_output_tokens: 50,
      store: false,
    } as never)
  })
})

describe('fields that only one dialect has', () => {
  const system = [
    { type: 'text', text: 'Rules.', cache_control: { type: 'ephemeral', ttl: '1h' } },
    { type: 'text', text: 'More rules.' },
  ]
  const messages = [{ role: 'user', content: 'Hi' }]

  test('cache breakpoints reach services that accept them, and are reported where they are dropped', () => {
    const wire = { max_tokens: 5, system, messages }
    const plain = translated('anthropic-messages', 'openai-chat', wire)
    expect(plain.body['messages']?.[0]).toEqual({ role: 'system', content: 'Rules.\n\nMore rules.' } as never)
    expect(plain.dropped).toEqual(['messages.cache_control'])
    const marked = translated('anthropic-messages', 'openai-chat', wire, 'm', { cacheControl: true })
    expect(marked.body['messages']?.[0]?.['content']).toEqual([
      { type: 'text', text: 'Rules.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'More rules.' },
    ] as never)
    expect(marked.dropped).toEqual([])
    const back = { messages: [{ role: 'system', content: marked.body['messages']?.[0]?.['content'] }, ...messages] }
    expect(translated('openai-chat', 'anthropic-messages', back).body['system']).toEqual(system as never)
  })

  test('dropped fields are reported with the caller’s spelling', () => {
    const chat = {
      messages,
      seed: 1,
      n: 2,
      logit_bias: { 1: 2 },
      frequency_penalty: 0.5,
      response_format: { type: 'json_object' },
    }
    expect(translated('openai-chat', 'anthropic-messages', chat).dropped.toSorted()).toEqual([
      'frequency_penalty',
      'logit_bias',
      'n',
      'response_format',
      'seed',
    ])
    const google = {
      contents: [{ parts: [{ text: 'Hi' }] }],
      safetySettings: [{ category: 'x' }],
      generationConfig: { topK: 3, mediaResolution: 'LOW' },
    }
    expect(translated('gemini', 'openai-responses', google).dropped.toSorted()).toEqual([
      'generationConfig.mediaResolution',
      'generationConfig.topK',
      'safetySettings',
    ])
    const claude = { max_tokens: 5, messages, tools: [{ type: 'bash_20250124', name: 'bash' }], top_k: 3 }
    expect(translated('anthropic-messages', 'openai-chat', claude).dropped.toSorted()).toEqual([
      'tools.bash_20250124',
      'top_k',
    ])
  })

  test('a request that refers to a file or response stored at another service is refused', () => {
    const kept = { input: 'And then?', previous_response_id: 'resp_1' }
    expect(() => translated('openai-responses', 'gemini', kept)).toThrow('previous_response_id is stored at a service')
    const file = {
      contents: [{ parts: [{ fileData: { fileUri: 'gs://bucket/a.pdf', mimeType: 'application/pdf' } }] }],
    }
    expect(() => translated('gemini', 'openai-chat', file)).toThrow('a file stored at a service')
    // The same request is accepted if it is sent to the service that stores the file.
    expect(translated('gemini', 'gemini', file).body).toMatchObject(file as never)
    const sound = {
      messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] }],
    }
    expect(() => translated('openai-chat', 'anthropic-messages', sound)).toThrow('audio (a part of type media)')
  })
})

describe('thinking', () => {
  const ask = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1000, temperature: 0.3 }
  const claude = (model: string, effort: string, more: JsonObject = {}) =>
    translated('openai-chat', 'anthropic-messages', { ...ask, ...more, reasoning_effort: effort }, model)

  test('becomes a budget for older Anthropic models if the caller sent an effort, and the temperature is dropped', () => {
    const { body, dropped } = claude('claude-sonnet-4-5-20250929', 'medium', { max_tokens: 9000 })
    expect(body).toMatchObject({ max_tokens: 9000, thinking: { type: 'enabled', budget_tokens: 8192 } } as never)
    expect([body['temperature'], dropped]).toEqual([undefined, ['temperature']] as never)
    expect(claude('claude-3-7-sonnet-latest', 'none').body).toMatchObject({ thinking: { type: 'disabled' } } as never)
  })

  test('gets a budget below the caller’s token limit; if the caller set no limit, the default limit is raised to fit the budget', () => {
    const sent = (limit: JsonObject, effort = 'high', model = 'claude-sonnet-4-5') => {
      const ask = { messages: [{ role: 'user', content: 'Hi' }], reasoning_effort: effort, ...limit }
      const { body, dropped } = translated('openai-chat', 'anthropic-messages', ask, model)
      return [body['max_tokens'], body['thinking']?.['budget_tokens'], dropped] as unknown
    }
    expect(sent({ max_tokens: 10_000 })).toEqual([10_000, 8000, []])
    expect(sent({ max_completion_tokens: 1280 })).toEqual([1280, 1024, []])
    expect(sent({ max_completion_tokens: 1279 })).toEqual([1279, undefined, ['reasoning_effort']])
    expect(sent({})).toEqual([32_000, 24_576, []])
    expect(sent({}, 'max')).toEqual([32_000, 25_600, []])
    expect(sent({}, 'medium', 'a-name-of-ones-own')).toEqual([12_288, 8192, []])
  })

  test('is requested from newer Anthropic models with the effort itself, and the newest models get no temperature', () => {
    expect(claude('claude-opus-4-6', 'xhigh').body).toMatchObject({
      max_tokens: 1000,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'xhigh' },
    } as never)
    const newest = claude('claude-sonnet-5', 'minimal')
    expect(newest.body).toMatchObject({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
    } as never)
    const plain = translated('openai-chat', 'anthropic-messages', ask, 'claude-opus-4-7')
    expect([plain.body['temperature'], plain.dropped]).toEqual([undefined, ['temperature']] as never)
    expect(translated('openai-chat', 'anthropic-messages', ask, 'claude-opus-4-6').body['temperature']).toBe(
      0.3 as never,
    )
  })

  test('is dropped if a tool call is required; if the model cannot be forced to call a tool, the requirement is dropped instead', () => {
    const forced = { tools: [chatTool], tool_choice: { type: 'function', function: { name: 'weather' } } }
    const old = claude('claude-sonnet-4-5', 'high', forced)
    expect(old.body).toMatchObject({ tool_choice: { type: 'tool', name: 'weather' }, temperature: 0.3 } as never)
    expect([old.body['thinking'], old.dropped]).toEqual([undefined, ['reasoning_effort']] as never)
    const newest = claude('claude-sonnet-5-5', 'high', forced)
    expect(newest.body).toMatchObject({ tool_choice: { type: 'auto' }, thinking: { type: 'adaptive' } } as never)
    expect(newest.dropped).toContain('tool_choice')
  })

  test('with a budget does not start in the middle of a tool loop that another service began', () => {
    const { body, dropped } = translated(
      'openai-chat',
      'anthropic-messages',
      { ...chatLoop, tool_choice: 'auto', reasoning_effort: 'high' },
      'claude-sonnet-4-5',
    )
    expect([body['thinking'], dropped]).toEqual([undefined, ['reasoning_effort']] as never)
  })

  test('becomes a level for Gemini 3 and a budget for Gemini 2.5', () => {
    const google = (model: string, effort: string) =>
      translated('openai-chat', 'gemini', { ...ask, reasoning_effort: effort }, model).body['generationConfig']?.[
        'thinkingConfig'
      ]
    expect(google('gemini-3-pro-preview', 'none')).toEqual({ thinkingLevel: 'LOW' } as never)
    expect(google('gemini-3-flash', 'xhigh')).toEqual({ thinkingLevel: 'HIGH', includeThoughts: true } as never)
    expect(google('gemini-2.5-flash', 'none')).toEqual({ thinkingBudget: 0 } as never)
    expect(google('gemini-2.5-pro', 'medium')).toEqual({ thinkingBudget: 8192, includeThoughts: true } as never)
  })

  test('is sent to OpenAI as an effort if the caller set a budget', () => {
    const wire = { max_tokens: 9000, messages: ask.messages, thinking: { type: 'enabled', budget_tokens: 4000 } }
    expect(translated('anthropic-messages', 'openai-chat', wire).body['reasoning_effort']).toBe('medium' as never)
    expect(translated('anthropic-messages', 'openai-responses', wire).body).toMatchObject({
      reasoning: { effort: 'medium', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    } as never)
  })

  test('is sent back, with its signature, to services that accept it', () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'sig' }
    const wire = {
      max_tokens: 5,
      messages: [...ask.messages, { role: 'assistant', content: [thought, { type: 'text', text: 'Hello' }] }],
    }
    const said = (reasoningField?: 'reasoning_content' | 'reasoning_details') =>
      translated('anthropic-messages', 'openai-chat', wire, 'm', { reasoningField }).body['messages']?.[1]
    expect(said()).toEqual({ role: 'assistant', content: 'Hello' } as never)
    expect(said('reasoning_content')).toEqual({
      role: 'assistant',
      content: 'Hello',
      reasoning_content: 'Hm.',
    } as never)
    expect(said('reasoning_details')).toMatchObject({
      reasoning: 'Hm.',
      reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 'sig', format: 'anthropic-claude-v1' }],
    } as never)
  })
})

test('reasoning that one service encrypted is not sent to another, which could not decrypt it', () => {
  const from: Readonly<Record<DialectName, JsonObject>> = {
    'anthropic-messages': {
      max_tokens: 5,
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'sealed-x' },
            { type: 'text', text: 'Hi' },
          ],
        },
      ],
    },
    'openai-responses': {
      input: [
        { type: 'reasoning', summary: [], encrypted_content: 'sealed-x' },
        { role: 'assistant', content: 'Hi' },
      ],
    },
    gemini: {
      contents: [
        { role: 'model', parts: [{ text: 'Hm.', thought: true, thoughtSignature: 'sealed-x' }, { text: 'Hi' }] },
      ],
    },
    'openai-chat': {
      messages: [
        {
          role: 'assistant',
          content: 'Hi',
          reasoning_details: [
            { type: 'reasoning.text', text: 'Hm.', signature: 'sealed-x', format: 'anthropic-claude-v1' },
          ],
        },
      ],
    },
  }
  for (const name of Object.keys(from) as DialectName[]) {
    for (const to of Object.keys(from) as DialectName[]) {
      if (to === name || (name === 'openai-chat' && to === 'anthropic-messages')) continue
      const { body, dropped } = translated(name, to, from[name])
      expect([name, to, JSON.stringify(body).includes('sealed-x')]).toEqual([name, to, false])
      expect(dropped).toHaveLength(1)
    }
  }
  // In the OpenAI chat request, the reasoning was produced by Anthropic, so it is sent to Anthropic.
  const back = translated('openai-chat', 'anthropic-messages', from['openai-chat']).body
  expect(back['messages']?.[0]?.['content']?.[0]).toEqual({
    type: 'thinking',
    thinking: 'Hm.',
    signature: 'sealed-x',
  } as never)
})

test('a Google result without an id is matched to the oldest open call with its name', () => {
  const call = (name: string, id?: string) => ({ functionCall: { name, args: {}, ...(id && { id }) } })
  const result = (name: string, id?: string) => ({ functionResponse: { name, response: {}, ...(id && { id }) } })
  const google = {
    contents: [
      { role: 'model', parts: [call('f', 'a'), call('g', 'b'), call('f', 'c'), call('f')] },
      { role: 'user', parts: [result('f', 'a'), result('f'), result('f'), result('g'), result('f')] },
      { role: 'model', parts: [call('f', 'a')] },
      { role: 'user', parts: [result('f', 'a')] },
      { role: 'model', parts: [call('f', 'a'), call('f', 'd')] },
      { role: 'user', parts: [result('f', 'a'), result('f')] },
    ],
  }
  const { body } = translated('gemini', 'anthropic-messages', google)
  const ids = (index: number, name: string) =>
    (body['messages']?.[index]?.['content'] as unknown as Record<string, string>[] | undefined)?.map(
      (block) => block[name],
    )
  expect(ids(0, 'id')).toEqual(['a', 'b', 'c', 'call_1'])
  expect(ids(1, 'tool_use_id')).toEqual(['a', 'c', 'call_1', 'b', 'call_2'])
  // Anthropic needs unique ids: a second call with the same id gets a new id, and its result gets the same new id.
  expect(ids(5, 'tool_use_id')).toEqual(ids(4, 'id') ?? [])
  const calls = [0, 2, 4].flatMap((turn) => ids(turn, 'id') ?? [])
  expect(new Set(calls).size).toBe(calls.length)
  expect(calls.at(-1)).toBe('d')
})

test('the sentence that follows a tool’s result in the same turn is kept', () => {
  const claude = {
    max_tokens: 5,
    messages: [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'weather', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'sunny' },
          { type: 'text', text: 'Answer in French.' },
        ],
      },
    ],
  }
  const lastOf = (to: DialectName, field: string) => {
    const turns = translated('anthropic-messages', to, claude).body[field] as unknown as JsonObject[]
    return turns.slice(2)
  }
  expect(lastOf('openai-responses', 'input')).toEqual([
    { type: 'function_call_output', call_id: 'a', output: 'sunny' },
    { type: 'message', role: 'user', content: 'Answer in French.' },
  ])
  expect(lastOf('openai-chat', 'messages')).toEqual([
    { role: 'tool', tool_call_id: 'a', content: 'sunny' },
    { role: 'user', content: 'Answer in French.' },
  ])
  expect(lastOf('gemini', 'contents')).toEqual([
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name: 'weather', response: { output: 'sunny' } } },
        { text: 'Answer in French.' },
      ],
    },
  ])
})

test('a failed tool is reported as failed', () => {
  const google = {
    contents: [
      { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { error: 'no such city' } } }] },
    ],
  }
  expect(translated('gemini', 'anthropic-messages', google).body['messages']?.[1]?.['content']).toEqual([
    { type: 'tool_result', tool_use_id: 'call_1', content: 'no such city', is_error: true },
  ] as never)
})

describe('media', () => {
  const png = 'data:image/png;base64,iVBORw0KGgo='
  const pdf = 'data:application/pdf;base64,JVBERi0='
  const content = [
    { type: 'text', text: 'Look:' },
    { type: 'image_url', image_url: { url: png, detail: 'low' } },
    { type: 'image_url', image_url: { url: 'https://example.com/a.webp?x=1' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
  ]
  const wire = { messages: [{ role: 'user', content }] }

  test.each([
    ['https://example.com/a.webp?x=1', 'image/webp'],
    ['https://example.com/files?name=a.png', 'image/png'],
    ['https://example.com/a.gif?name=b.png#c.d', 'image/gif'],
    ['https://example.com/a', 'image/jpeg'],
    ['https://example.com/a.constructor', 'image/jpeg'],
  ])('at %s are sent to Gemini as %s', (url, mimeType) => {
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
    expect(translated('openai-chat', 'gemini', { messages }).body['contents']?.[0]?.['parts']).toEqual([
      { fileData: { mimeType, fileUri: url } },
    ] as never)
  })

  test('are sent in the formats of Anthropic, Gemini and the Responses API', () => {
    expect(translated('openai-chat', 'anthropic-messages', wire).body['messages']?.[0]?.['content']).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.webp?x=1' } },
      {
        type: 'document',
        title: 'a.pdf',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
      },
    ] as never)
    expect(translated('openai-chat', 'gemini', wire).body['contents']?.[0]?.['parts']).toEqual([
      { text: 'Look:' },
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
      { fileData: { mimeType: 'image/webp', fileUri: 'https://example.com/a.webp?x=1' } },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=', displayName: 'a.pdf' } },
    ] as never)
    expect(translated('openai-chat', 'openai-responses', wire).body['input']?.[0]?.['content']).toEqual([
      { type: 'input_text', text: 'Look:' },
      { type: 'input_image', image_url: png, detail: 'low' },
      { type: 'input_image', image_url: 'https://example.com/a.webp?x=1' },
      { type: 'input_file', filename: 'a.pdf', file_data: pdf },
    ] as never)
  })

  test('in a tool’s result are sent as part of the user’s turn, after all results, if the service accepts only text in results', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
    const claude = {
      max_tokens: 5,
      messages: [
        { role: 'user', content: 'Take two.' },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'shot', input: {} },
            { type: 'tool_use', id: 'b', name: 'shot', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [image] },
            { type: 'tool_result', tool_use_id: 'b', content: 'failed', is_error: true },
            { type: 'text', text: 'Well?' },
          ],
        },
      ],
    }
    expect(
      (translated('anthropic-messages', 'openai-chat', claude).body['messages'] as unknown as unknown[]).slice(2),
    ).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'See attachments of a.' },
      { role: 'tool', tool_call_id: 'b', content: 'failed' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Attachments of a:' },
          { type: 'image_url', image_url: { url: png } },
          { type: 'text', text: 'Well?' },
        ],
      },
    ])
    expect(
      translated('anthropic-messages', 'gemini', claude, 'gemini-3-flash').body['contents']?.[2]?.['parts'],
    ).toEqual([
      {
        functionResponse: {
          id: 'a',
          name: 'shot',
          response: { output: '' },
          parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
        },
      },
      { functionResponse: { id: 'b', name: 'shot', response: { error: 'failed' } } },
      { text: 'Well?' },
    ] as never)
  })

  test('that contain text are sent as text if the service accepts only PDF files', () => {
    const document = {
      type: 'document',
      title: 'notes',
      source: { type: 'text', media_type: 'text/plain', data: 'Grüße' },
    }
    const claude = { max_tokens: 5, messages: [{ role: 'user', content: [document] }] }
    expect(translated('anthropic-messages', 'openai-chat', claude).body['messages']?.[0]?.['content']).toBe(
      'notes\n\nGrüße' as never,
    )
  })
})

describe('the response format', () => {
  const json = {
    messages: [{ role: 'user', content: 'Hi' }],
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'place',
        strict: true,
        schema: { ...schema, properties: { city: { type: 'string', maxLength: 9 } } },
      },
    },
  }

  test('is a schema without additional properties for Anthropic, and omits the limits that Anthropic refuses', () => {
    expect(translated('openai-chat', 'anthropic-messages', json).body['output_config']).toEqual({
      format: { type: 'json_schema', schema: { ...schema, additionalProperties: false } },
    } as never)
  })

  test('is a JSON schema for Gemini and the Responses API', () => {
    expect(translated('openai-chat', 'gemini', json).body['generationConfig']).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: json.response_format.json_schema.schema,
    } as never)
    expect(translated('openai-chat', 'openai-responses', json).body['text']).toEqual({
      format: { type: 'json_schema', ...json.response_format.json_schema },
    } as never)
  })

  test('becomes a JSON schema for other services if the caller sent Google’s own schema format', () => {
    const google = {
      contents: [{ parts: [{ text: 'Hi' }] }],
      generationConfig: {
        responseMimeType: 'application/json',
        responseSchema: {
          type: 'OBJECT',
          properties: {
            age: { type: 'INTEGER', nullable: true },
            tags: { type: 'ARRAY', items: { type: 'STRING' }, minItems: '2' },
          },
        },
      },
    }
    expect(translated('gemini', 'openai-chat', google).body['response_format']).toEqual({
      type: 'json_schema',
      json_schema: {
        name: 'answer',
        schema: {
          type: 'object',
          properties: {
            age: { type: ['integer', 'null'] },
            tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
          },
        },
      },
    } as never)
  })
})

describe('tools that are not functions', () => {
  const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }
  const codex = {
    input: [
      { role: 'user', content: 'Patch it' },
      { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'c', output: 'done' },
    ],
    tools: [{ type: 'custom', name: 'apply_patch', description: 'Patches', format: grammar }],
  }

  test('a free-text tool becomes a function with one text field where a service supports only functions', () => {
    const { body, dropped } = translated('openai-responses', 'anthropic-messages', codex)
    expect(body['tools']?.[0]).toMatchObject({
      name: 'apply_patch',
      description: 'Patches\n\nThe input must be of this grammar:\nstart: "x"',
      input_schema: { properties: { input: { type: 'string' } } },
    } as never)
    expect(body['messages']?.[1]?.['content']?.[0]).toMatchObject({
      type: 'tool_use',
      input: { input: '*** Begin' },
    } as never)
    expect(dropped).toEqual(['tools.format'])
  })

  test('a web search that is declared in one service’s format is sent in the format of each other service', () => {
    const claude = {
      max_tokens: 5,
      messages: [{ role: 'user', content: 'News?' }],
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2, allowed_domains: ['a.org'] }],
    }
    expect(translated('anthropic-messages', 'openai-responses', claude).body['tools']).toEqual([
      { type: 'web_search', filters: { allowed_domains: ['a.org'] } },
    ] as never)
    expect(translated('anthropic-messages', 'gemini', claude).body['tools']).toEqual([{ googleSearch: {} }] as never)
    const chat = translated('anthropic-messages', 'openai-chat', claude, 'gpt-4o-search-preview')
    expect(chat.body['web_search_options']).toEqual({} as never)
    const google = { contents: [{ parts: [{ text: 'News?' }] }], tools: [{ google_search: {} }] }
    expect(translated('gemini', 'anthropic-messages', google).body['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search' },
    ] as never)
  })

  test('a web search is dropped, and reported, if the service would refuse the request because of it', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' }
    const claude = { max_tokens: 5, messages: [{ role: 'user', content: 'News?' }], tools: [search] }
    const chat = translated('anthropic-messages', 'openai-chat', claude, 'gpt-5.1')
    expect([chat.body['web_search_options'], chat.dropped]).toEqual([undefined, ['tools.web_search']] as never)
    // Google accepts its search together with functions only if the caller sends the search results back with the
    // history. Only callers of the Gemini API do this.
    const tools = [search, { name: 'f', input_schema: { type: 'object' } }]
    const google = translated('anthropic-messages', 'gemini', { ...claude, tools })
    expect(google.body['tools']).toEqual([{ functionDeclarations: [expect.objectContaining({ name: 'f' })] }] as never)
    expect(google.dropped).toEqual(['tools.web_search'])
  })

  test('the thinking option is dropped and reported if the model does not support thinking', () => {
    const hi = { messages: [{ role: 'user', content: 'Hi' }] }
    const claude = { ...hi, max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 } }
    const effortFor = (model: string) => translated('anthropic-messages', 'openai-chat', claude, model)
    expect(effortFor('gpt-4o')).toMatchObject({ dropped: ['thinking'] })
    expect(effortFor('gpt-4o').body['reasoning_effort']).toBeUndefined()
    expect(effortFor('gpt-5.1').body['reasoning_effort']).toBe('low' as never)
    expect(effortFor('openai/gpt-oss-120b').body['reasoning_effort']).toBe('low' as never)
    const chat = { ...hi, reasoning_effort: 'low' }
    expect(translated('openai-chat', 'anthropic-messages', chat, 'claude-3-5-haiku-latest')).toMatchObject({
      dropped: ['reasoning_effort'],
    })
    expect(translated('openai-chat', 'gemini', chat, 'gemini-2.0-flash')).toMatchObject({
      dropped: ['reasoning_effort'],
    })
  })

  test('without a limit from the caller, an answer can be as long as the model allows', () => {
    const asked = { messages: [{ role: 'user', content: 'Hi' }] }
    const lengthFor = (model: string) =>
      translated('openai-chat', 'anthropic-messages', asked, model).body['max_tokens']
    const models = [
      'claude-3-haiku-20240307',
      'claude-3-5-sonnet-20241022',
      'claude-3-7-sonnet-latest',
      'claude-opus-5',
    ]
    expect(models.map(lengthFor)).toEqual([4096, 8192, 32_000, 32_000] as never)
  })

  test('legacy functions become tools, and their results are matched to their calls', () => {
    const old = {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '{}' } },
        { role: 'function', name: 'weather', content: 'sunny' },
      ],
      functions: [chatTool.function],
      function_call: { name: 'weather' },
    }
    const { body } = translated('openai-chat', 'anthropic-messages', old)
    expect(body['messages']?.[1]?.['content']?.[0]).toMatchObject({
      type: 'tool_use',
      id: 'call_1',
      name: 'weather',
    } as never)
    expect(body['messages']?.[2]?.['content']?.[0]).toMatchObject({
      type: 'tool_result',
      tool_use_id: 'call_1',
    } as never)
    expect(body['tool_choice']).toEqual({ type: 'tool', name: 'weather' } as never)
  })
})

test('a system message in the middle of a conversation keeps its position', () => {
  const wire = {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Now in French.' },
      { role: 'assistant', content: 'Bonjour' },
    ],
  }
  const claude = (model: string) => translated('openai-chat', 'anthropic-messages', wire, model).body['messages']
  expect(claude('claude-opus-4-8')?.[1]).toEqual({ role: 'system', content: 'Now in French.' } as never)
  expect(claude('claude-opus-4-5')?.[0]).toEqual({
    role: 'user',
    content: [
      { type: 'text', text: 'Hi' },
      { type: 'text', text: '<system>\nNow in French.\n</system>' },
    ],
  } as never)
  expect(translated('openai-chat', 'openai-responses', wire).body['input']?.[1]).toMatchObject({
    role: 'developer',
  } as never)
})

describe('very long conversations are translated in time that grows linearly with their length', () => {
  const many = 100_000
  const inTime = 20_000
  const listOf = (length: number, each: (index: number) => JsonObject) => Array.from({ length }, (_, at) => each(at))
  const contentOf = (to: DialectName, messages: JsonObject[]) => {
    const { body } = translated('openai-chat', to, { messages })
    const turns = (to === 'gemini' ? body['contents'] : body['messages']) as unknown as Record<string, JsonObject[]>[]
    return turns.map((turn) => turn[to === 'gemini' ? 'parts' : 'content'] ?? [])
  }

  test(
    'results of very many calls become one turn',
    () => {
      const results = listOf(many, (at) => ({ role: 'tool', tool_call_id: `call_${at}`, content: 'sunny' }))
      const turns = contentOf('anthropic-messages', [...results, { role: 'user', content: 'And now?' }, ...results])
      expect(turns.map(({ length }) => length)).toEqual([2 * many + 1])
      expect(turns[0]?.[many - 1]).toEqual({
        type: 'tool_result',
        tool_use_id: `call_${many - 1}`,
        content: 'sunny',
      })
    },
    inTime,
  )

  test('tool results are added to an empty user turn that precedes them', () => {
    const { messages } = dialects['openai-chat'].decodeRequest({
      model: 'm',
      messages: [
        { role: 'user', content: '', name: 'Ann' },
        { role: 'tool', tool_call_id: 'a', content: '' },
        { role: 'tool', tool_call_id: 'b', content: '' },
        { role: 'user', content: 'Hi' },
        { role: 'tool', tool_call_id: 'c', content: '' },
      ],
    })
    const result = (callId: string) => ({ type: 'tool-result', callId, content: [] }) as const
    expect(messages).toEqual([
      { role: 'user', parts: [result('a'), result('b')], name: 'Ann' },
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { role: 'user', parts: [result('c')] },
    ])
  })

  for (const to of ['anthropic-messages', 'gemini'] as const) {
    test(
      `consecutive turns with the same role are merged in ${to}`,
      () => {
        const turns = contentOf(
          to,
          listOf(many, () => ({ role: 'user', content: 'Hi' })),
        )
        expect(turns.map(({ length }) => length)).toEqual([many])
      },
      inTime,
    )
  }

  test(
    'a turn with more parts than a JavaScript call can have arguments is merged with the previous turn',
    () => {
      const content = Array.from({ length: 1_000_000 }).fill({ type: 'text', text: 'x' })
      const messages = [
        { role: 'user', content: 'Hi' },
        { role: 'user', content },
      ]
      const conversation = dialects['openai-chat'].decodeRequest({ model: 'm', messages })
      for (const to of [dialects['anthropic-messages'], dialects.gemini, bedrockConverse]) {
        const { body } = to.encodeRequest(conversation)
        const turns = (body['contents'] ?? body['messages']) as Record<string, unknown[]>[]
        expect(turns.map((turn) => (turn['parts'] ?? turn['content'])?.length)).toEqual([content.length + 1])
      }
    },
    inTime,
  )
})
