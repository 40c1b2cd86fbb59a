// DashScope's native format: input and parameters are separate, events may repeat the text so far, and images are made
// by a job.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { chargedUnits, type Rig, startRelayRig } from '../relay/setup.ts'
import { answers, askChat, lastBody, streams, tokensOf, twoCalls, weather } from './services.ts'

const models = ['qwen-max', 'qwen-max-internet', 'qwen-vl-max', 'text-embedding-v3', 'gte-rerank-v2', 'wanx-v1']

let rig: Rig

beforeAll(async () => {
  const ratios = JSON.stringify(Object.fromEntries(models.map((model) => [model, 1])))
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: ratios, CompletionRatio: ratios } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(async () => {
  await rig.clear({ RetryTimes: '0' })
  await rig.channel({ type: 17, key: 'sk-ali', models: models.join(','), other: '' })
})

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
const said = (message: object, finish_reason = 'stop') => ({
  output: { choices: [{ message: { role: 'assistant', ...message }, finish_reason }] },
  usage,
  request_id: 'r-1',
})
const ask = (fields: object = {}, token?: string) =>
  askChat(rig, { model: 'qwen-max', messages: [{ role: 'user', content: 'Hi' }], ...fields }, token)

test('a question and its answer are sent in the service’s format', async () => {
  rig.upstream.always(answers(said({ content: 'Hello', reasoning_content: 'Hm' })))
  const caller = await rig.caller()
  const got = await ask(
    { temperature: 2, top_p: 1, max_tokens: 9, seed: 3, top_k: 20, repetition_penalty: 1.1, logit_bias: { 1: 1 } },
    caller.token,
  )
  expect(got).toMatchObject({ status: 200, text: 'Hello', thought: 'Hm', reason: 'stop' })
  const [request] = rig.upstream.requests
  expect(request?.path).toBe('/api/v1/services/aigc/text-generation/generation')
  expect(request?.headers.get('authorization')).toBe('Bearer sk-ali')
  expect(lastBody(rig)).toEqual({
    model: 'qwen-max',
    input: { messages: [{ role: 'user', content: 'Hi' }] },
    parameters: {
      result_format: 'message',
      temperature: 1.9999,
      top_p: 0.9999,
      top_k: 20,
      max_tokens: 9,
      seed: 3,
      repetition_penalty: 1.1,
      logit_bias: { 1: 1 },
    },
  })
  expect((await chargedUnits(rig, caller)).units).toBe(15)
})

test('tools, thinking, search and plugins are sent in their own fields', async () => {
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"place":"Bern"}' } }
  rig.upstream.always(answers(said({ content: '', tool_calls: [call] }, 'tool_calls')))
  await rig.clear()
  await rig.channel({ type: 17, key: 'sk-ali', models: models.join(','), other: 'pdf_extracter' })
  rig.upstream.always(answers(said({ content: '', tool_calls: [call] }, 'tool_calls')))
  const got = await ask({
    model: 'qwen-max-internet',
    messages: twoCalls,
    tools: [weather],
    tool_choice: 'auto',
    reasoning_effort: 'medium',
    max_tokens: 5000,
  })
  expect(got).toMatchObject({ reason: 'tool_calls', calls: [{ id: 'c1', name: 'weather', input: '{"place":"Bern"}' }] })
  const { model, input, parameters } = lastBody(rig) as Record<string, Record<string, unknown>>
  expect(model as unknown).toBe('qwen-max')
  expect(input?.['messages']).toMatchObject([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Weather in Rome and Oslo?' },
    { role: 'assistant', content: '', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    { role: 'tool', tool_call_id: 'call_2', content: 'snow' },
  ])
  expect(parameters).toMatchObject({
    tools: [weather],
    tool_choice: 'auto',
    enable_search: true,
    enable_thinking: true,
    thinking_budget: 4000,
    max_tokens: 5000,
  })
  expect(rig.upstream.requests[0]?.headers.get('x-dashscope-plugin')).toBe('pdf_extracter')
})

test('vision models are called at their own path, with their own format of parts', async () => {
  rig.upstream.always(answers(said({ content: [{ text: 'A dog' }] })))
  const image = { type: 'image_url', image_url: { url: 'https://example.com/dog.png' } }
  const content = [{ type: 'text', text: 'What?' }, image]
  expect(await ask({ model: 'qwen-vl-max', messages: [{ role: 'user', content }] })).toMatchObject({ text: 'A dog' })
  expect(rig.upstream.requests[0]?.path).toBe('/api/v1/services/aigc/multimodal-generation/generation')
  expect(lastBody(rig)['input']).toEqual({
    messages: [{ role: 'user', content: [{ text: 'What?' }, { image: 'https://example.com/dog.png' }] }],
  })
  const seen = await ask({ messages: [{ role: 'user', content }] })
  expect({ status: seen.status, asked: rig.upstream.requests.length }).toEqual({ status: 400, asked: 1 })
})

test('a stream is requested in increments, and ends when its last event says so', async () => {
  const piece = (content: string, reason = 'null') => said({ content }, reason)
  rig.upstream.always(streams(piece('1'), piece('1'), piece('2'), piece('', 'stop')))
  const caller = await rig.caller()
  const got = await ask({ stream: true, stream_options: { include_usage: true } }, caller.token)
  expect(got).toMatchObject({ text: '112', reason: 'stop', ended: true })
  expect(tokensOf(got.usage)).toEqual({ prompt: 10, completion: 5 })
  expect(rig.upstream.requests[0]?.headers.get('x-dashscope-sse')).toBe('enable')
  expect(lastBody(rig)['parameters']).toMatchObject({ incremental_output: true })
  expect((await chargedUnits(rig, caller)).units).toBe(15)
})

test('from events that repeat the text so far, only the new text is used', async () => {
  const whole = (text: string, finish_reason = 'null') => ({ output: { text, finish_reason }, usage, request_id: 'r' })
  for (const texts of [
    ['O', 'One', 'One, two', 'One, two, three'],
    ['One, two, three'],
    ['One, two', 'One, two, three', 'One, two, three'],
  ]) {
    const last = texts.length - 1
    rig.upstream.always(streams(...texts.map((text, at) => whole(text, at === last ? 'stop' : 'null'))))
    expect(await ask({ stream: true })).toMatchObject({ text: 'One, two, three', ended: true })
  }
})

test('an error inside a stream and a stream that breaks off are reported', async () => {
  const piece = said({ content: 'Half' }, 'null')
  rig.upstream.always(streams(piece, { code: 'Throttling.RateQuota', message: 'slow down', request_id: 'r' }))
  const failed = await ask({ stream: true })
  expect(failed.ended).toBe(false)
  expect(failed.error?.message).toContain('slow down')
  rig.upstream.always(streams(piece))
  expect((await ask({ stream: true })).error?.code).toBe('upstream_stream_incomplete')
})

test('errors keep their status and their meaning', async () => {
  rig.upstream.always(answers({ code: 'InvalidApiKey', message: 'Invalid API-key provided.' }, 401))
  expect(await ask()).toMatchObject({ status: 503, error: { code: 'upstream_unavailable' } })
  rig.upstream.always(answers({ code: 'Throttling', message: 'busy' }, 429))
  expect(await ask()).toMatchObject({ status: 429, error: { type: 'rate_limit_error' } })
})

test('search results are cited', async () => {
  const search_info = { search_results: [{ index: 1, title: 'A page', url: 'https://example.com/1' }] }
  const answer = said({ content: 'So it is.' })
  rig.upstream.always(answers({ ...answer, output: { ...answer.output, search_info } }))
  expect((await ask({ web_search_options: {} })).citations).toEqual(['https://example.com/1'])
})

test('embeddings have the order of their texts, and are charged', async () => {
  const embeddings = [
    { text_index: 1, embedding: [2] },
    { text_index: 0, embedding: [1] },
  ]
  rig.upstream.always(answers({ output: { embeddings }, usage: { total_tokens: 6 }, request_id: 'r' }))
  const caller = await rig.caller()
  const request = { model: 'text-embedding-v3', input: ['a', 'b'], dimensions: 64 }
  const body = await (await rig.gateway.post('/v1/embeddings', request, caller.token)).json()
  expect(body).toMatchObject({ data: [{ embedding: [1] }, { embedding: [2] }] })
  expect(lastBody(rig)).toEqual({
    model: 'text-embedding-v3',
    input: { texts: ['a', 'b'] },
    parameters: { dimension: 64 },
  })
  expect((await chargedUnits(rig, caller)).units).toBe(6)
})

test('documents are ranked', async () => {
  const results = [{ index: 1, relevance_score: 0.9 }]
  rig.upstream.always(answers({ output: { results }, usage: { total_tokens: 7 }, request_id: 'r' }))
  const request = { model: 'gte-rerank-v2', query: 'q', documents: ['a', 'b'], top_n: 1 }
  const body = await (await rig.gateway.post('/v1/rerank', request)).json()
  expect(body).toMatchObject({ results, usage: { total_tokens: 7 } })
  expect(lastBody(rig)).toEqual({
    model: 'gte-rerank-v2',
    input: { query: 'q', documents: ['a', 'b'] },
    parameters: { top_n: 1 },
  })
})

test('images are made by a job that is polled until it is done', async () => {
  const states = [
    { task_status: 'RUNNING' },
    { task_status: 'SUCCEEDED', results: [{ url: 'https://example.com/1.png' }] },
  ]
  rig.upstream.script(({ path }) => {
    if (path === '/api/v1/tasks/t-1') return answers({ output: { task_id: 't-1', ...states.shift() } })
    return answers({ output: { task_id: 't-1', task_status: 'PENDING' }, request_id: 'r' })
  })
  const request = { model: 'wanx-v1', prompt: 'a cat', n: 1, size: '1024x1024' }
  const response = await rig.gateway.post('/v1/images/generations', request)
  expect(await response.json()).toMatchObject({ data: [{ url: 'https://example.com/1.png' }] })
  const [start, ...asked] = rig.upstream.requests
  expect(start?.path).toBe('/api/v1/services/aigc/text2image/image-synthesis')
  expect(start?.headers.get('x-dashscope-async')).toBe('enable')
  expect(start?.json).toEqual({ model: 'wanx-v1', input: { prompt: 'a cat' }, parameters: { size: '1024*1024', n: 1 } })
  expect(asked.map(({ method, headers }) => [method, headers.get('authorization')])).toEqual([
    ['GET', 'Bearer sk-ali'],
    ['GET', 'Bearer sk-ali'],
  ])
})

test('a job that fails is reported as an error and costs nothing', async () => {
  rig.upstream.script(({ path }) => {
    const failed = { task_status: 'FAILED', code: 'DataInspectionFailed', message: 'not allowed' }
    return answers({ output: path.includes('/tasks/') ? failed : { task_id: 't-2', task_status: 'PENDING' } })
  })
  const caller = await rig.caller()
  const request = { model: 'wanx-v1', prompt: 'a cat' }
  const response = await rig.gateway.post('/v1/images/generations', request, caller.token)
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('not allowed')
  expect((await chargedUnits(rig, caller)).units).toBe(0)
})

test('a channel can be configured to use the service’s OpenAI-compatible API', async () => {
  await rig.clear()
  await rig.channel({ type: 17, key: 'sk-ali', models: 'qwen-max', config: '{"compatible":true}' })
  expect((await ask({ top_k: 3 })).status).toBe(200)
  expect(rig.upstream.requests[0]?.path).toBe('/compatible-mode/v1/chat/completions')
  expect(lastBody(rig)).toMatchObject({ model: 'qwen-max', top_k: 3 })
})
