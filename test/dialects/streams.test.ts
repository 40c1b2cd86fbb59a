import { describe, expect, test } from 'bun:test'
import type { Usage } from '../../contract/usage.ts'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import type { Dialect } from '../../server/dialects/neutral/dialect.ts'
import type { StreamEvent } from '../../server/dialects/neutral/reply.ts'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { assemble, dataOf, decodeAll, dialects, encodeAll, frameOf } from '../helpers/dialects.ts'

const names = Object.keys(dialects) as DialectName[]
const eventsOf = (text: string) =>
  dataOf(text)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as JsonObject)
const chunk = (delta: JsonObject, finish_reason: string | null = null) =>
  JSON.stringify({ id: 'c', model: 'up', choices: [{ index: 0, delta, finish_reason }] })
const call = (index: number, rest: JsonObject) => chunk({ tool_calls: [{ index, ...rest }] })
const named = (index: number, id: string, name: string) =>
  call(index, { id, type: 'function', function: { name, arguments: '' } })
const more = (index: number, text: string) => call(index, { function: { arguments: text } })

describe('calls whose inputs arrive interleaved', () => {
  const byTurns = [
    named(0, 'a', 'first'),
    named(1, 'b', 'second'),
    more(0, '{"x":'),
    more(1, '{"y"'),
    more(0, '1}'),
    more(1, ':2}'),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ]
  for (const to of names) {
    test(`arrive complete in ${to}`, () => {
      const events = decodeAll(dialects['openai-chat'], byTurns)
      const { reply, ended } = assemble(decodeAll(dialects[to], dataOf(encodeAll(dialects[to], events, frameOf(to)))))
      expect(ended).toBe(true)
      expect(reply.choices[0]?.parts).toEqual([
        { type: 'tool-call', id: 'a', name: 'first', input: '{"x":1}' },
        { type: 'tool-call', id: 'b', name: 'second', input: '{"y":2}' },
      ])
      expect(reply.choices[0]?.stop.reason).toBe('tool-calls')
    })
  }

  test('become consecutive blocks for Anthropic', () => {
    const events = decodeAll(dialects['openai-chat'], byTurns)
    const order = eventsOf(encodeAll(dialects['anthropic-messages'], events, frameOf('anthropic-messages'))).flatMap(
      ({ type, index }) =>
        typeof index === 'number' ? [`${String(type).replace('content_block_', '')} ${index}`] : [],
    )
    expect([...new Set(order)]).toEqual(['start 0', 'delta 0', 'stop 0', 'start 1', 'delta 1', 'stop 1'])
  })

  test('that do not overlap are passed on as they arrive', () => {
    const encoder = dialects['anthropic-messages'].streamEncoder(frameOf('anthropic-messages'))
    const decoder = dialects['openai-chat'].streamDecoder('seed')
    const push = (data: string) =>
      decoder
        .push(data)
        .map((event) => encoder.push(event))
        .join('')
    push(named(0, 'a', 'first'))
    expect(push(more(0, '{"x":1}'))).toContain('partial_json')
    push(named(1, 'b', 'second'))
    expect(push(more(1, '{"y"'))).toContain('partial_json')
  })
})

test('a call without input has an empty object as its input in every dialect', () => {
  for (const to of names) {
    const events = decodeAll(dialects['openai-chat'], [named(0, 'a', 'now'), chunk({}, 'tool_calls'), '[DONE]'])
    const { reply } = assemble(decodeAll(dialects[to], dataOf(encodeAll(dialects[to], events, frameOf(to)))))
    const [part] = reply.choices[0]?.parts ?? []
    expect(part?.type === 'tool-call' && JSON.parse(part.input || '{}')).toEqual({})
  }
})

test('the Responses API streams the arguments of a call without input, too', () => {
  const events = decodeAll(dialects['openai-chat'], [named(0, 'a', 'now'), chunk({}, 'tool_calls'), '[DONE]'])
  const sent = eventsOf(encodeAll(dialects['openai-responses'], events, frameOf('openai-responses')))
  const textOf = (type: string, field: string) =>
    sent.flatMap((event) => (event['type'] === type ? [event[field]] : [])).join('')
  // Clients that only collect the deltas would otherwise parse an empty string.
  expect(textOf('response.function_call_arguments.delta', 'delta')).toBe('{}')
  expect(textOf('response.function_call_arguments.done', 'arguments')).toBe('{}')
})

describe('a free-text tool, offered as a function', () => {
  const request = { input: 'Patch it', tools: [{ type: 'custom', name: 'patch' }] }
  const events: StreamEvent[] = [
    { type: 'start' },
    { type: 'part', choice: 0, index: 0, part: { type: 'tool-call', id: 'a', name: 'patch', input: '' } },
    { type: 'delta', choice: 0, index: 0, text: '{"input":"***' },
    { type: 'delta', choice: 0, index: 0, text: ' Begin"}' },
    { type: 'part-end', choice: 0, index: 0 },
    { type: 'stop', choice: 0, stop: { reason: 'tool-calls' } },
    { type: 'end' },
  ]

  test('is called with plain text in the Responses API, both streamed and not', () => {
    const frame = frameOf('openai-responses', request)
    const streamed = eventsOf(encodeAll(dialects['openai-responses'], events, frame))
    expect(streamed.find(({ type }) => type === 'response.custom_tool_call_input.done')?.['input']).toBe('*** Begin')
    const whole = dialects['openai-responses'].encodeReply(assemble(events).reply, frame)
    const last = streamed.at(-1)?.['response']
    expect(isObject(last) && last['output']).toMatchObject([
      { type: 'custom_tool_call', input: '*** Begin', call_id: 'a' },
    ])
    expect(whole['output']).toMatchObject([{ type: 'custom_tool_call', input: '*** Begin', call_id: 'a' }])
  })

  test('is called with plain text in OpenAI’s chat', () => {
    const frame = frameOf('openai-chat', { tools: [{ type: 'custom', custom: { name: 'patch' } }] })
    const { reply } = assemble(
      decodeAll(dialects['openai-chat'], dataOf(encodeAll(dialects['openai-chat'], events, frame))),
    )
    expect(reply.choices[0]?.parts).toMatchObject([{ input: '*** Begin', freeform: true }])
  })
})

test('a caller who declares legacy functions gets a function call', () => {
  const frame = frameOf('openai-chat', { functions: [{ name: 'now' }] })
  const events = decodeAll(dialects['openai-chat'], [
    named(0, 'a', 'now'),
    more(0, '{}'),
    chunk({}, 'tool_calls'),
    '[DONE]',
  ])
  const foreign = events.map((event) =>
    event.type === 'stop' ? ({ ...event, stop: { reason: 'tool-calls' } } as const) : event,
  )
  const text = encodeAll(dialects['openai-chat'], foreign, frame)
  expect(text).toContain('"function_call":{"name":"now"')
  expect(text).toContain('"finish_reason":"function_call"')
  expect(text).not.toContain('tool_calls')
  const whole = dialects['openai-chat'].encodeReply(assemble(foreign).reply, frame)
  expect(whole['choices']).toMatchObject([{ message: { function_call: { name: 'now', arguments: '{}' } } }])
})

describe('usage with a count for every class of tokens', () => {
  const usage: Usage = {
    promptTokens: 1000,
    completionTokens: 300,
    cachedTokens: 400,
    cacheWriteTokens: 200,
    cacheWrite1hTokens: 50,
    audioPromptTokens: 30,
    imagePromptTokens: 20,
    reasoningTokens: 100,
    audioCompletionTokens: 10,
  }
  /** The classes of tokens that each dialect can express. */
  const told: Readonly<Record<DialectName, readonly (keyof Usage)[]>> = {
    'openai-chat': [
      'cachedTokens',
      'cacheWriteTokens',
      'audioPromptTokens',
      'imagePromptTokens',
      'reasoningTokens',
      'audioCompletionTokens',
    ],
    'openai-responses': ['cachedTokens', 'cacheWriteTokens', 'reasoningTokens'],
    'anthropic-messages': ['cachedTokens', 'cacheWriteTokens', 'cacheWrite1hTokens', 'reasoningTokens'],
    gemini: ['cachedTokens', 'audioPromptTokens', 'imagePromptTokens', 'reasoningTokens', 'audioCompletionTokens'],
  }

  for (const name of names) {
    test(`keeps in ${name} the counts that the dialect can express, both streamed and not`, () => {
      const classes = Object.fromEntries(told[name].map((each) => [each, usage[each]]))
      // Responses of the Responses API always contain a service tier.
      const tier = name === 'openai-responses' ? { tier: 'default' } : {}
      const expected = { promptTokens: 1000, completionTokens: 300, ...classes, ...tier }
      const choices = [{ parts: [{ type: 'text', text: 'Hi' } as const], stop: { reason: 'stop' } as const }]
      const wire = dialects[name].encodeReply({ choices, usage }, frameOf(name))
      expect(dialects[name].decodeReply(wire, 's').usage).toEqual(expected)
      expect(streamedUsage(dialects[name], usage)).toEqual(expected)
    })
  }

  function streamedUsage(dialect: Dialect, usage: Usage): Usage | undefined {
    const events: StreamEvent[] = [
      { type: 'start' },
      { type: 'usage', usage: { promptTokens: 1000, completionTokens: 1 } },
      { type: 'usage', usage },
      { type: 'part', choice: 0, index: 0, part: { type: 'text', text: 'Hi' } },
      { type: 'part-end', choice: 0, index: 0 },
      { type: 'stop', choice: 0, stop: { reason: 'stop' } },
      { type: 'end' },
    ]
    return assemble(decodeAll(dialect, dataOf(encodeAll(dialect, events, frameOf(dialect.name))))).reply.usage
  }

  test('Anthropic counts cache reads and writes separately from the input', () => {
    const wire = dialects['anthropic-messages'].encodeReply({ choices: [], usage }, frameOf('anthropic-messages'))
    expect(wire['usage']).toMatchObject({
      input_tokens: 400,
      cache_read_input_tokens: 400,
      cache_creation_input_tokens: 200,
      cache_creation: { ephemeral_5m_input_tokens: 150, ephemeral_1h_input_tokens: 50 },
      output_tokens: 300,
    })
  })

  test('Gemini counts thoughts separately from the answer, and tool-use prompts separately from the prompt', () => {
    const wire = {
      candidates: [],
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 7,
        toolUsePromptTokenCount: 3,
        totalTokenCount: 25,
      },
    }
    const usage = { promptTokens: 13, completionTokens: 12, reasoningTokens: 7 }
    expect(dialects.gemini.decodeReply(wire, 's').usage).toEqual(usage)
  })

  test('a caller of OpenAI’s chat who did not request usage gets none in the stream', () => {
    const frame = frameOf('openai-chat', { stream_options: undefined })
    const events: StreamEvent[] = [{ type: 'start' }, { type: 'usage', usage }, { type: 'end' }]
    expect(encodeAll(dialects['openai-chat'], events, frame)).not.toContain('usage')
  })
})

describe('service-specific formats', () => {
  test('a call of one of Anthropic’s own tools reaches an Anthropic caller with the input that arrived in pieces', () => {
    const use = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search' }
    const piece = (partial_json: string) =>
      JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } })
    const events = decodeAll(dialects['anthropic-messages'], [
      JSON.stringify({ type: 'message_start', message: { id: 'm', model: 'up', usage: {} } }),
      JSON.stringify({ type: 'content_block_start', index: 0, content_block: { ...use, input: {} } }),
      piece('{"query":'),
      piece('"x"}'),
      JSON.stringify({ type: 'content_block_stop', index: 0 }),
      JSON.stringify({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }),
      JSON.stringify({ type: 'message_stop' }),
    ])
    const sent = encodeAll(dialects['anthropic-messages'], events, frameOf('anthropic-messages'))
    for (const read of [events, decodeAll(dialects['anthropic-messages'], dataOf(sent))]) {
      const [part] = assemble(read).reply.choices[0]?.parts ?? []
      expect(part).toMatchObject({ type: 'native', value: { ...use, input: { query: 'x' } } })
    }
  })

  const google = (...parts: JsonObject[]) => ({ candidates: [{ content: { parts } }], responseId: 'r' })
  const ended = { candidates: [{ content: { parts: [] }, finishReason: 'STOP' }] }

  test('Gemini arguments that arrive in pieces are joined into one input', () => {
    const piece = (jsonPath: string, rest: JsonObject) => ({
      functionCall: { partialArgs: [{ jsonPath, ...rest }], willContinue: true },
    })
    const data = [
      google({ functionCall: { name: 'cook', willContinue: true }, thoughtSignature: 'sig' }),
      google(piece('$.recipe.name', { stringValue: 'Lasa', willContinue: true })),
      google(piece('$.recipe.name', { stringValue: 'gne' })),
      google(
        piece('$.recipe.steps[0].text', { stringValue: 'Boil' }),
        piece('$.recipe.steps[0].minutes', { numberValue: 9 }),
      ),
      google(piece("$['odd name']", { boolValue: true }), piece('$.none', { nullValue: 'NULL_VALUE' })),
      google({ functionCall: {} }),
      ended,
    ]
    const { reply } = assemble(
      decodeAll(
        dialects.gemini,
        data.map((each) => JSON.stringify(each)),
      ),
    )
    const [part] = reply.choices[0]?.parts ?? []
    expect(part).toMatchObject({
      type: 'tool-call',
      id: 'call_r_0_0',
      name: 'cook',
      seal: { from: 'gemini', value: 'sig' },
    })
    expect(part?.type === 'tool-call' && JSON.parse(part.input)).toEqual({
      recipe: { name: 'Lasagne', steps: [{ text: 'Boil', minutes: 9 }] },
      'odd name': true,
      none: null,
    })
  })

  test('citation positions from Gemini are byte offsets, and the caller gets them as character offsets', () => {
    const text = 'Füße: 66 °F. Wind: keiner.'
    const cited = 'Wind: keiner.'
    const at = Buffer.byteLength(text.slice(0, text.indexOf(cited)))
    const grounding = {
      groundingChunks: [{ web: { uri: 'https://a.org', title: 'A' } }],
      groundingSupports: [
        { segment: { startIndex: at, endIndex: at + cited.length, text: cited }, groundingChunkIndices: [0] },
      ],
    }
    const wire = {
      candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP', groundingMetadata: grounding }],
    }
    const chat = dialects['openai-chat'].encodeReply(dialects.gemini.decodeReply(wire, 's'), frameOf('openai-chat'))
    const [choice] = chat['choices'] as JsonObject[]
    const start_index = text.indexOf(cited)
    expect(choice?.['message']).toMatchObject({
      annotations: [{ url_citation: { url: 'https://a.org', title: 'A', start_index, end_index: text.length } }],
    })
    const back = dialects.gemini.encodeReply(dialects.gemini.decodeReply(wire, 's'), frameOf('gemini'))
    expect(back['candidates']).toMatchObject([{ groundingMetadata: grounding }])
  })

  test('a Responses API stream repeats at its end the content that was sent in pieces', () => {
    const events = decodeAll(dialects['openai-chat'], [
      chunk({ content: 'Let me' }),
      chunk({ content: ' look.' }),
      named(0, 'a', 'look'),
      more(0, '{"x":1}'),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ])
    const told = eventsOf(encodeAll(dialects['openai-responses'], events, frameOf('openai-responses')))
    expect(told.map(({ sequence_number }) => sequence_number)).toEqual(told.map((_, index) => index))
    expect(told.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ])
    const done = told.filter(({ type }) => /_text\.done$|arguments\.done$/.test(String(type)))
    expect(done).toMatchObject([{ text: 'Let me look.' }, { arguments: '{"x":1}', name: 'look' }])
    expect(told.at(-1)?.['response']).toMatchObject({
      status: 'completed',
      output: [
        { type: 'message', content: [{ text: 'Let me look.' }] },
        { type: 'function_call', arguments: '{"x":1}' },
      ],
    })
  })
})

describe('nonsense from an upstream', () => {
  for (const name of names) {
    test(`in a stream of ${name} is reported as an error and not as an answer`, () => {
      for (const data of ['{"cut', '5', '[]', '"text"']) {
        const events = decodeAll(dialects[name], [data])
        expect([data, events.at(-1)?.type]).toEqual([data, 'error'])
      }
      expect(decodeAll(dialects[name], []).at(-1)?.type).toBe('error')
    })

    test(`in an answer of ${name} does not throw`, () => {
      const odd: unknown[] = [null, 5, 'x', [], {}, [null], [{}], [5]]
      for (const value of odd) {
        const wire = {
          choices: value,
          content: value,
          output: value,
          candidates: value,
          usage: value,
          usageMetadata: value,
        }
        const reply = dialects[name].decodeReply(wire, 's')
        expect(Array.isArray(reply.choices)).toBe(true)
        expect(JSON.stringify(dialects[name].encodeReply(reply, frameOf(name)))).toBeString()
        const deep = {
          choices: [{ message: value, delta: value, index: value }],
          delta: value,
          candidates: [{ content: value }],
        }
        expect(decodeAll(dialects[name], [JSON.stringify(deep)]).at(-1)?.type).toBe('error')
      }
    })
  }

  test('a path in Gemini’s partial arguments cannot reach outside the arguments', () => {
    const args = (path: string) => ({
      candidates: [
        {
          content: { parts: [{ functionCall: { name: 'f', partialArgs: [{ jsonPath: path, stringValue: 'x' }] } }] },
          finishReason: 'STOP',
        },
      ],
    })
    for (const path of ['$.__proto__.polluted', '$.a[99999999]', '$', ''])
      decodeAll(dialects.gemini, [JSON.stringify(args(path))])
    expect(({} as JsonObject)['polluted']).toBe(undefined)
  })
})
