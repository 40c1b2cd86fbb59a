// Tools that a service runs, such as a web search. In every dialect, the hold covers the tool calls that the service
// may make, and the number of tool calls that the upstream reports is charged.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sendBody, sendJson } from '../helpers/fake-upstream/reply.ts'
import * as fake from '../helpers/fake-upstream.ts'
import { chargedUnits, expectError, type Rig, see, startRelayRig, whileHeld } from './setup.ts'

let rig: Rig

/** What one web search costs in quota, at 500,000 quota per currency unit. */
const search = 1000
const prices = {
  web_search: 0.002,
  'web_search:high': 0.004,
  file_search: 0.0005,
  code_interpreter: 0.006,
  image_generation: 0.05,
  'image_generation:low': 0.003,
  maps: 0.005,
}

beforeAll(async () => {
  const only = JSON.stringify({ m: 1, 'gemini-2.5-flash': 1, 'gemini-3-pro-preview': 1, 'gpt-4o-search-preview': 1 })
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: only, CompletionRatio: only } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ ToolPrice: JSON.stringify(prices), UnpricedModelPolicy: 'refuse' }))

const hi = [{ role: 'user', content: 'Hi' }]
const sse = (events: readonly object[], named: boolean, end = '') =>
  events
    .map((event) => `${named ? `event: ${(event as { type: string }).type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('') + end

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const tokens = 15

interface Form {
  path: (stream: boolean) => string
  body: (tools: object, stream: boolean) => object
}

const forms = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (fields, stream) => ({ model: 'm', max_tokens: 50, messages: hi, stream, ...fields }),
  },
  Responses: {
    path: () => '/v1/responses',
    body: (fields, stream) => ({ model: 'm', max_output_tokens: 50, input: 'Hi', stream, ...fields }),
  },
  Messages: {
    path: () => '/v1/messages',
    body: (fields, stream) => ({ model: 'm', max_tokens: 50, messages: hi, stream, ...fields }),
  },
  Gemini: {
    path: (stream) => `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (fields) => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...fields }),
  },
} satisfies Record<string, Form>

type Caller = keyof typeof forms

async function rowOf(caller: Caller, fields: object, stream: boolean, upstream: fake.Behaviour, path?: string) {
  const who = await rig.caller()
  rig.upstream.next(upstream)
  const form = forms[caller]
  const seen = await see(rig.gateway.post(path ?? form.path(stream), form.body(fields, stream), who.token))
  expect({ status: seen.status, text: seen.status === 200 ? '' : seen.text }).toEqual({ status: 200, text: '' })
  const { units, rows } = await chargedUnits(rig, who)
  return { units, row: rows[0] }
}

/** An upstream that streams if the request does. */
const upstreamOf = (body: object, events: readonly object[], named: boolean, end = '') =>
  fake.behaviour('hosted', (exchange) => {
    const { fields, path } = exchange.request
    if (fields['stream'] !== true && !path.includes(':stream')) return sendJson(exchange, 200, body)
    return sendBody(exchange, 200, sse(events, named, end), [['content-type', 'text/event-stream']])
  })

const message = (counts: object, stop = 'end_turn') => {
  const base = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null }
  const use = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }
  const told = { input_tokens: 10, output_tokens: 5, ...counts }
  return upstreamOf(
    { ...base, content: [use, { type: 'text', text: 'Hello.' }], stop_reason: stop, usage: told },
    [
      {
        type: 'message_start',
        message: { ...base, content: [], stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: use },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello.' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: told },
      { type: 'message_stop' },
    ],
    true,
  )
}

const response = (items: readonly object[], extra: object = {}) => {
  const text = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
  }
  const output = [...items, text]
  const told = { input_tokens: 10, output_tokens: 5, total_tokens: 15, ...extra }
  const base = { id: 'resp_1', object: 'response', created_at: 1, model: 'm' }
  const whole = { ...base, status: 'completed', output, usage: told }
  return upstreamOf(
    whole,
    [
      { type: 'response.created', response: { ...base, status: 'in_progress', output: [] } },
      ...output.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: whole },
    ],
    true,
  )
}

const gemini = (groundingMetadata: object) => {
  const whole = {
    candidates: [
      { index: 0, content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP', groundingMetadata },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  }
  return upstreamOf(whole, [whole], false)
}

const chat = (fields: object, counts: object = {}, said: object = {}) => {
  const base = { id: 'c1', created: 1, model: 'm' }
  const told = { role: 'assistant', content: 'Hello.', ...said }
  return upstreamOf(
    {
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message: told, finish_reason: 'stop' }],
      usage: { ...usage, ...counts },
      ...fields,
    },
    [
      {
        ...base,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: told, finish_reason: 'stop' }],
        ...fields,
      },
      { ...base, object: 'chat.completion.chunk', choices: [], usage: { ...usage, ...counts } },
    ],
    false,
    'data: [DONE]\n\n',
  )
}

const searchItem = (id: string, action = 'search') => ({
  type: 'web_search_call',
  id,
  status: 'completed',
  action: { type: action, query: 'x' },
})
const webSearch = { tools: [{ type: 'web_search' }] }
const claudeSearch = { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] }

describe.each([false, true])('the upstream’s count is charged (streamed: %p):', (stream) => {
  const cases: [
    name: string,
    type: number,
    caller: Caller,
    fields: object,
    upstream: () => fake.Behaviour,
    units: number,
    note: string,
  ][] = [
    [
      'Anthropic',
      14,
      'Messages',
      claudeSearch,
      () => message({ server_tool_use: { web_search_requests: 2 } }),
      2 * search,
      'web_search × 2',
    ],
    [
      'Anthropic, without a search',
      14,
      'Messages',
      claudeSearch,
      () => message({ server_tool_use: { web_search_requests: 0 } }),
      0,
      '',
    ],
    [
      'Anthropic, for a chat caller',
      14,
      'chat',
      { web_search_options: {} },
      () => message({ server_tool_use: { web_search_requests: 2 } }),
      2 * search,
      'web_search × 2',
    ],
    [
      'Anthropic, for a Gemini caller',
      14,
      'Gemini',
      { tools: [{ googleSearch: {} }] },
      () => message({ server_tool_use: { web_search_requests: 1 } }),
      search,
      'web_search × 1',
    ],
    [
      'Responses',
      1,
      'Responses',
      webSearch,
      () => response([searchItem('a'), searchItem('b'), searchItem('c', 'open_page')]),
      2 * search,
      'web_search × 2',
    ],
    [
      'Gemini, for a Messages caller',
      24,
      'Messages',
      claudeSearch,
      () => gemini({ webSearchQueries: ['a'] }),
      search,
      'web_search × 1',
    ],
    [
      'Responses, with every tool',
      1,
      'Responses',
      {
        tools: [
          { type: 'file_search', vector_store_ids: ['vs_1'] },
          { type: 'code_interpreter', container: { type: 'auto' } },
          { type: 'image_generation' },
        ],
      },
      () =>
        response([
          { type: 'file_search_call', id: 'f1', status: 'completed', queries: ['x'] },
          { type: 'code_interpreter_call', id: 'c1', status: 'completed', container_id: 'cntr_1', code: '1' },
          { type: 'code_interpreter_call', id: 'c2', status: 'completed', container_id: 'cntr_1', code: '2' },
          { type: 'image_generation_call', id: 'i1', status: 'completed', quality: 'low', result: 'aGk=' },
        ]),
      250 + 3000 + 1500,
      'image_generation:low × 1',
    ],
    [
      'xAI',
      45,
      'Responses',
      webSearch,
      () => response([searchItem('a'), searchItem('b')], { server_side_tool_usage_details: { web_search_calls: 4 } }),
      4 * search,
      'web_search × 4',
    ],
    [
      'OpenRouter',
      20,
      'chat',
      { plugins: [{ id: 'web' }] },
      () => chat({}, { server_tool_use_details: { web_search_requests: 3 } }),
      3 * search,
      'web_search × 3',
    ],
    [
      'OpenAI, by context size',
      1,
      'chat',
      { web_search_options: { search_context_size: 'high' } },
      () =>
        chat(
          {},
          {},
          {
            annotations: [
              {
                type: 'url_citation',
                url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 },
              },
            ],
          },
        ),
      2000,
      'web_search × 1',
    ],
    [
      'Groq',
      29,
      'chat',
      { tools: [{ type: 'browser_search' }] },
      () =>
        chat(
          {},
          {},
          {
            executed_tools: [
              { index: 0, type: 'search' },
              { index: 1, type: 'search' },
            ],
          },
        ),
      2 * search,
      'web_search × 2',
    ],
    [
      'Moonshot',
      25,
      'chat',
      { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] },
      () =>
        chat(
          {},
          {},
          {
            tool_calls: [{ index: 0, id: 't1', type: 'function', function: { name: '$web_search', arguments: '{}' } }],
          },
        ),
      search,
      'web_search × 1',
    ],
    [
      'Gemini',
      24,
      'Gemini',
      { tools: [{ googleSearch: {} }] },
      () => gemini({ webSearchQueries: ['a', 'b', 'b', ''] }),
      2 * search,
      'web_search × 2',
    ],
    [
      'Gemini, for a Responses caller',
      24,
      'Responses',
      webSearch,
      () => gemini({ webSearchQueries: ['a'] }),
      search,
      'web_search × 1',
    ],
    [
      'Gemini, with maps',
      24,
      'Gemini',
      { tools: [{ googleMaps: {} }] },
      () => gemini({ groundingChunks: [{ maps: { uri: 'https://maps.example' } }] }),
      2500,
      'maps × 1',
    ],
  ]
  for (const [name, type, caller, fields, upstream, units, note] of cases)
    test(name, async () => {
      await rig.channel({ type })
      const found = await rowOf(caller, fields, stream, upstream())
      expect({ units: found.units, content: found.row?.content }).toEqual({
        units: tokens + units,
        content: note === '' ? expect.not.stringContaining('tools:') : expect.stringContaining(note),
      })
    })
})

test('if an older Gemini model answers with grounding, one search is charged, even if the model made several', async () => {
  await rig.channel({ type: 24, models: 'gemini-2.5-flash,gemini-3-pro-preview' })
  const upstream = () => gemini({ webSearchQueries: ['a', 'b', 'c'] })
  const tools = { tools: [{ googleSearch: {} }] }
  const unitsOf = async (model: string) =>
    (await rowOf('Gemini', tools, false, upstream(), `/v1beta/models/${model}:generateContent`)).units
  expect(await unitsOf('gemini-2.5-flash')).toBe(tokens + search)
  expect(await unitsOf('gemini-3-pro-preview')).toBe(tokens + 3 * search)
})

test('a model that always searches is charged for one search if its service reports no count', async () => {
  await rig.channel({ models: 'gpt-4o-search-preview' })
  const cited = { annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A' } }] }
  const found = await rowOf('chat', { model: 'gpt-4o-search-preview' }, false, chat({}, {}, cited))
  expect(found.units).toBe(tokens + search)
})

describe.each([false, true])(
  'a model that always searches, with an answer that reports no search (streamed: %p):',
  (stream) => {
    const unitsOf = async (model: string, counts: object) =>
      (await rowOf('chat', { model }, stream, chat({}, counts))).units

    test.each([
      ['gpt-4o-search-preview', tokens, 25],
      // $1 per million tokens, for prompt and completion tokens alike.
      ['sonar', Math.ceil(tokens / 2), 5],
      ['sonar-pro', Math.ceil((10 * 3 + 5 * 15) / 2), 6],
    ])('%s costs its tokens and one search at the built-in price', async (model, ofTokens, thousandths) => {
      await rig.gateway.setOption('ToolPrice', '{}')
      await rig.channel({ type: model.startsWith('sonar') ? 58 : 1, models: model })
      expect(await unitsOf(model, {})).toBeWithin(ofTokens + thousandths * 500 - 1, ofTokens + thousandths * 500 + 1)
    })

    test('the search size in the request sets the price', async () => {
      await rig.gateway.setOption('ToolPrice', '{}')
      await rig.channel({ type: 58, models: 'sonar' })
      expect(await unitsOf('sonar', { search_context_size: 'high' })).toBe(8 + 6000)
    })

    test('an empty answer is not charged for a search', async () => {
      await rig.channel({ models: 'gpt-4o-search-preview' })
      const nothing = { completion_tokens: 0, total_tokens: 10 }
      const row = await rowOf('chat', { model: 'gpt-4o-search-preview' }, stream, chat({}, nothing, { content: '' }))
      expect(row.units).toBe(10)
    })
  },
)

test('a stream of a model that always searches is charged for its search if it breaks off before its citations', async () => {
  await rig.channel({ models: 'gpt-4o-search-preview' })
  const who = await rig.caller()
  const said = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const events = [{ ...said, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' } }] }]
  rig.upstream.next(
    fake.behaviour('broken', (exchange) =>
      sendBody(exchange, 200, sse(events, false), [['content-type', 'text/event-stream']]),
    ),
  )
  await see(
    rig.gateway.post('/v1/chat/completions', forms.chat.body({ model: 'gpt-4o-search-preview' }, true), who.token),
  )
  const { units, rows } = await chargedUnits(rig, who)
  expect(rows[0]?.outcome).toBe('interrupted')
  expect(units).toBeWithin(search + 1, search + 100)
})

test('an answer that breaks off is charged for the searches that it contains', async () => {
  await rig.channel({ type: 1 })
  const who = await rig.caller()
  const item = searchItem('a')
  const events = [
    { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] } },
    { type: 'response.output_item.done', output_index: 0, item },
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { type: 'message', id: 'm1', role: 'assistant', content: [] },
    },
    {
      type: 'response.content_part.added',
      output_index: 1,
      content_index: 0,
      item_id: 'm1',
      part: { type: 'output_text', text: '' },
    },
    { type: 'response.output_text.delta', output_index: 1, content_index: 0, item_id: 'm1', delta: 'Hello' },
  ]
  rig.upstream.next(
    fake.behaviour('broken', (exchange) =>
      sendBody(exchange, 200, sse(events, true), [['content-type', 'text/event-stream']]),
    ),
  )
  const body = forms.Responses.body(webSearch, true)
  await see(rig.gateway.post('/v1/responses', body, who.token))
  const { units, rows } = await chargedUnits(rig, who)
  expect(rows[0]?.outcome).toBe('interrupted')
  expect(units).toBeGreaterThan(search)
  expect(units).toBeLessThan(search + 100)
})

describe('the hold covers', () => {
  const heldFor = async (caller: Caller, fields: object) => {
    const who = await rig.caller()
    const form = forms[caller]
    const path = form.path(false)
    return whileHeld(rig, who, path, form.body(fields, false), (held) => held)
  }

  test.each([
    ['five searches, if the request has no limit', 'Responses', webSearch, 5 * search],
    ['as many searches as `max_tool_calls` allows', 'Responses', { ...webSearch, max_tool_calls: 2 }, 2 * search],
    ['as many searches as `max_uses` allows', 'Messages', claudeSearch, 3 * search],
    [
      'the price of the requested size',
      'Responses',
      { tools: [{ type: 'web_search', search_context_size: 'high' }] },
      10 * search,
    ],
    ['one container', 'Responses', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }, 3000],
    [
      'the highest price of a tool that is named twice',
      'Responses',
      { tools: [{ type: 'web_search' }, { type: 'web_search', search_context_size: 'high' }] },
      10 * search,
    ],
    ['nothing for a tool that must not be called', 'Messages', { ...claudeSearch, tool_choice: { type: 'none' } }, 0],
    [
      'nothing for tools that the caller runs',
      'Messages',
      {
        tools: [
          { name: 'f', input_schema: { type: 'object' } },
          { type: 'bash_20250124', name: 'bash' },
        ],
      },
      0,
    ],
  ] as const)('%s', async (_, caller, fields, units) => {
    await rig.channel({ type: caller === 'Messages' ? 14 : 1 })
    const none = await heldFor(caller, {})
    const held = await heldFor(caller, fields)
    // A tool's description also adds tokens to the prompt.
    expect(held - none).toBeWithin(units, units + 100)
  })

  test('a call is refused if the balance does not cover its hold', async () => {
    await rig.channel({ type: 1 })
    const who = await rig.caller({ user: 4 * search, token: 4 * search })
    const ask = (fields: object) =>
      see(rig.gateway.post('/v1/responses', forms.Responses.body(fields, false), who.token))
    expectError(await ask(webSearch), 403, 'pre_consume_token_quota_failed')
    rig.upstream.next(response([searchItem('a')]))
    expect((await ask({ ...webSearch, max_tool_calls: 1 })).status).toBe(200)
  })
})

describe('a tool without a price', () => {
  const tools = { tools: [{ type: 'x_search' }] }

  test.each([false, true])('is refused before anything is sent (streamed: %p)', async (stream) => {
    await rig.channel({ type: 1 })
    const who = await rig.caller()
    const seen = await see(rig.gateway.post('/v1/responses', forms.Responses.body(tools, stream), who.token))
    expectError(seen, 400, 'tool_not_priced')
    expect(seen.error?.message).toContain('x_search')
    expect(rig.upstream.requests.length).toBe(0)
    expect((await chargedUnits(rig, who)).units).toBe(0)
  })

  test('costs the fallback price if items without a price are allowed', async () => {
    await rig.gateway.setOption('UnpricedModelPolicy', 'fallback')
    await rig.gateway.setOption('UnpricedToolPrice', '0.01')
    await rig.channel({ type: 1 })
    const upstream = response([{ type: 'x_search_call', id: 'x1', status: 'completed' }])
    expect((await rowOf('Responses', tools, false, upstream)).units).toBe(tokens + 5000)
  })

  test('is allowed once it has a price, even one for the channel’s type only', async () => {
    await rig.gateway.setOption('ToolPrice', '{"x_search(1)":0}')
    await rig.channel({ type: 1 })
    const upstream = response([{ type: 'x_search_call', id: 'x1', status: 'completed' }])
    expect((await rowOf('Responses', tools, false, upstream)).units).toBe(tokens)
  })
})

test('if the option is empty, the built-in prices apply, multiplied by the group ratio', async () => {
  await rig.gateway.setOption('ToolPrice', '{}')
  await rig.gateway.setOption('GroupRatio', '{"default":0.5}')
  try {
    await rig.channel({ type: 14 })
    const upstream = message({ server_tool_use: { web_search_requests: 3 } })
    // Three searches at $0.01 each, with a group ratio of 0.5.
    expect((await rowOf('Messages', claudeSearch, false, upstream)).units).toBe(Math.ceil((tokens + 15_000) / 2))
  } finally {
    await rig.gateway.setOption('GroupRatio', '{"default":1}')
  }
})
