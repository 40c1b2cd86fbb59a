import { describe, expect, test } from 'bun:test'
import { hostedTools } from '../wire/hosted-tools.ts'
import { ToolCounter } from './tool-counts.ts'

function countsOf(events: readonly object[], known: readonly string[] = ['web_search']) {
  const counter = new ToolCounter()
  for (const event of events) counter.read(JSON.stringify(event))
  return counter.counts(known)
}

describe('counts the calls to hosted tools in an answer', () => {
  test.each([
    [
      'totals that grow',
      [
        { usage: { server_tool_use: { web_search_requests: 1 } } },
        { usage: { server_tool_use: { web_search_requests: 3 } } },
      ],
      { web_search: 3 },
    ],
    [
      'a total followed by zeros',
      [{ usage: { num_search_queries: 7 } }, { usage: { num_search_queries: 0 } }],
      { web_search: 7 },
    ],
    [
      'a total takes precedence over the items',
      [
        { item: { type: 'web_search_call', id: 'a' } },
        { response: { usage: { server_side_tool_usage_details: { web_search_calls: 0 } } } },
      ],
      {},
    ],
    [
      'an item that arrives three times',
      [
        { item: { type: 'web_search_call', id: 'a' } },
        { item: { type: 'web_search_call', id: 'a', action: { type: 'search' } } },
        { response: { output: [{ type: 'web_search_call', id: 'a' }] } },
      ],
      { web_search: 1 },
    ],
    [
      'a search that turns out to open a page',
      [
        { item: { type: 'web_search_call', id: 'a' } },
        { item: { type: 'web_search_call', id: 'a', action: { type: 'open_page' } } },
      ],
      {},
    ],
    ['a call that failed', [{ item: { type: 'file_search_call', id: 'a', status: 'failed' } }], {}],
    [
      'an image whose quality is reported at its end',
      [
        { item: { type: 'image_generation_call', id: 'a' } },
        { item: { type: 'image_generation_call', id: 'a', quality: 'high' } },
      ],
      { 'image_generation:high': 1 },
    ],
    [
      'each container counted once',
      [
        {
          output: [
            { type: 'code_interpreter_call', id: 'a', container_id: 'x' },
            { type: 'code_interpreter_call', id: 'b', container_id: 'x' },
            { type: 'code_interpreter_call', id: 'c', container_id: 'y' },
          ],
        },
      ],
      { code_interpreter: 2 },
    ],
    [
      'the search context size from the usage',
      [{ usage: { num_search_queries: 2, search_context_size: 'high' } }],
      { 'web_search:high': 2 },
    ],
    [
      'absurd and invalid counts',
      [
        { usage: { server_tool_use: { web_search_requests: 1e12 } } },
        { usage: { x_search_calls: -4, file_search_calls: 'many' } },
      ],
      { web_search: 1000 },
    ],
    ['cited pages', [{ choices: [{ delta: { annotations: [{ type: 'url_citation' }] } }] }], { web_search: 1 }],
    [
      'a Groq answer',
      [{ choices: [{ message: { executed_tools: [{ type: 'search' }, { type: 'python' }] } }] }],
      { web_search: 1, code_interpreter: 1 },
    ],
    [
      'calls without an id, in an answer',
      [{ output: [{ type: 'web_search_call' }, { type: 'web_search_call' }, { type: 'file_search_call' }] }],
      { web_search: 2, file_search: 1 },
    ],
    [
      'calls without an id, in a stream and repeated at its end',
      [
        { output_index: 0, item: { type: 'web_search_call' } },
        { output_index: 0, item: { type: 'web_search_call', status: 'completed' } },
        { output_index: 1, item: { type: 'web_search_call' } },
        { response: { output: [{ type: 'web_search_call' }, { type: 'web_search_call' }] } },
      ],
      { web_search: 2 },
    ],
    [
      'calls without an id or an index, repeated at the end of the stream',
      [
        { item: { type: 'web_search_call' } },
        { item: { type: 'web_search_call' } },
        { response: { output: [{ type: 'web_search_call' }, { type: 'web_search_call' }] } },
      ],
      { web_search: 2 },
    ],
    [
      'a search without an id that turns out to open a page',
      [
        { output_index: 0, item: { type: 'web_search_call' } },
        { output_index: 1, item: { type: 'web_search_call' } },
        { output_index: 1, item: { type: 'web_search_call', action: { type: 'open_page' } } },
      ],
      { web_search: 1 },
    ],
    [
      'images without an id, whose quality is reported at their end',
      [
        { output_index: 0, item: { type: 'image_generation_call' } },
        { output_index: 1, item: { type: 'image_generation_call' } },
        { output_index: 0, item: { type: 'image_generation_call', quality: 'low' } },
        { output_index: 1, item: { type: 'image_generation_call', quality: 'low' } },
      ],
      { 'image_generation:low': 2 },
    ],
    [
      'blocks without an id, in an answer',
      [
        {
          content: [
            { type: 'server_tool_use', name: 'web_search' },
            { type: 'server_tool_use', name: 'web_search' },
          ],
        },
      ],
      { web_search: 2 },
    ],
    [
      'blocks without an id, in a stream',
      [
        { index: 0, content_block: { type: 'server_tool_use', name: 'web_search' } },
        { index: 2, content_block: { type: 'server_tool_use', name: 'web_search' } },
      ],
      { web_search: 2 },
    ],
    [
      "Moonshot's calls without an id, in two choices",
      [
        {
          choices: [
            {
              index: 0,
              message: { tool_calls: [{ function: { name: '$web_search' } }, { function: { name: '$web_search' } }] },
            },
            { index: 1, message: { tool_calls: [{ function: { name: '$web_search' } }] } },
          ],
        },
      ],
      { web_search: 3 },
    ],
    [
      "Moonshot's calls without an id, in a stream",
      [
        { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name: '$web_search' } }] } }] },
        { choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { name: '$web_search' } }] } }] },
      ],
      { web_search: 2 },
    ],
    ['Alibaba', [{ usage: { plugins: { search: { count: 1, strategy: 'standard' } } } }], { web_search: 1 }],
    [
      'nothing',
      [{ choices: [{ delta: { content: 'I did a web search.' } }] }, 'search' as unknown as object, [] as object],
      {},
    ],
  ])('%s', (_, events, counts) => {
    expect(countsOf(events)).toEqual(counts as never)
  })

  describe('for a model that always searches:', () => {
    const countOf = (event: object) => {
      const counter = new ToolCounter()
      counter.read(JSON.stringify(event))
      return counter.counts(['web_search'], true)
    }
    test.each([
      [
        'one search if the upstream reports nothing',
        { choices: [{ delta: { content: 'Hello.' } }] },
        { web_search: 1 },
      ],
      ['one search of the reported size', { usage: { search_context_size: 'high' } }, { 'web_search:high': 1 }],
      ['as many searches as the upstream reports', { usage: { num_search_queries: 3 } }, { web_search: 3 }],
      ['no search if the upstream reports zero', { usage: { num_search_queries: 0 } }, {}],
    ])('%s', (_, event, counts) => expect(countOf(event)).toEqual(counts as never))
  })

  test('cited pages do not count as a search if search is off', () => {
    expect(
      countsOf([{ choices: [{ message: { annotations: [{ type: 'url_citation' }] } }] }], ['file_search']),
    ).toEqual({})
  })
})

describe('finds the hosted tools in a request', () => {
  test.each([
    ['none', { messages: [] }, []],
    [
      'functions',
      {
        tools: [
          { type: 'function', function: { name: 'web_search' } },
          { name: 'f', input_schema: {} },
        ],
      },
      [],
    ],
    [
      'wrong shapes',
      { tools: 'web_search', plugins: { id: 'web' }, web_search_options: true, search_parameters: [] },
      [],
    ],
    [
      'an older preview version of the web search',
      { tools: [{ type: 'web_search_preview_2025_03_11' }] },
      [{ kind: 'web_search_preview' }],
    ],
    [
      'a later version of the web search',
      { tools: [{ type: 'web_search_20260209', name: 'web_search', max_uses: 8 }] },
      [{ kind: 'web_search', most: 8 }],
    ],
    ['a tool that must not be called', { tools: [{ type: 'web_search' }], tool_choice: 'none' }, []],
    [
      'a limit for all tool calls together',
      { tools: [{ type: 'file_search' }], max_tool_calls: 2 },
      [{ kind: 'file_search', most: 2 }],
    ],
    [
      'an image',
      { tools: [{ type: 'image_generation', quality: 'low' }] },
      [{ kind: 'image_generation', size: 'low' }],
    ],
    [
      'Google, in both spellings',
      { tools: [{ googleSearch: {} }, { google_maps: {} }, { urlContext: {} }] },
      [{ kind: 'web_search' }, { kind: 'maps' }],
    ],
    [
      'Zhipu',
      { tools: [{ type: 'web_search', web_search: { enable: true, search_engine: 'search_pro' } }] },
      [{ kind: 'web_search', size: 'search_pro' }],
    ],
    ['Zhipu, off', { tools: [{ type: 'web_search', web_search: { enable: false } }] }, []],
    ['xAI, live', { search_parameters: { mode: 'auto', max_search_results: 4 } }, [{ kind: 'live_search', most: 4 }]],
    ['xAI, off', { search_parameters: { mode: 'off' } }, []],
    [
      'Alibaba',
      { enable_search: true, search_options: { search_strategy: 'max' } },
      [{ kind: 'web_search', size: 'max', most: 1 }],
    ],
    [
      'Alibaba, in its own format',
      { input: {}, parameters: { enable_search: true } },
      [{ kind: 'web_search', most: 1 }],
    ],
  ])('%s', (_, body, tools) => {
    expect(hostedTools(body as never, 'm')).toEqual(tools)
  })

  test.each([
    ['sonar-pro', [{ kind: 'web_search', most: 1 }]],
    ['perplexity/sonar-deep-research', [{ kind: 'web_search', most: 20 }]],
    ['gpt-4o-mini-search-preview-2025-03-11', [{ kind: 'web_search', most: 1 }]],
    ['openai/gpt-5:online', [{ kind: 'web_search', most: 1 }]],
    ['gpt-5', []],
  ])('that offers no tools, from the model name %s', (model, tools) => {
    expect(hostedTools({ messages: [] }, model)).toEqual(tools as never)
  })
})
