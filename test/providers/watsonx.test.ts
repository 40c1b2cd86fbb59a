// IBM watsonx.ai: the API key is exchanged for a token, the project is sent in the body, and errors have IBM's format.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type Rig, startRelayRig } from '../relay/setup.ts'
import { answers, askChat, lastBody, streams } from './services.ts'
import { toldToAdmin } from './told-to-admin.ts'

const model = 'ibm/granite-4-h-small'
const place = '/identity/token'
let rig: Rig
let refusal: object | undefined

beforeAll(async () => {
  const ratios = JSON.stringify({ [model]: 1 })
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: ratios, CompletionRatio: ratios } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(async () => {
  await rig.clear({ RetryTimes: '0' })
  // Each test has its own key, so that no test uses another test's token.
  await rig.channel({ type: 61, key: `project-1|api-key-${++keys}`, models: model })
  refusal = undefined
  rig.upstream.script(({ path }) => {
    if (path !== place) return undefined
    return refusal ? answers(refusal, 400) : answers({ access_token: 'iam-token', expires_in: 3600 })
  })
})
let keys = 0

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const choice = { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }
const hello = { id: 'chat-1', model_id: model, created: 1_760_000_000, choices: [choice], usage }
const ask = (fields: object = {}) => askChat(rig, { model, messages: [{ role: 'user', content: 'Hi' }], ...fields })

test('the key is exchanged once, and the body contains the project and the service’s field names', async () => {
  rig.upstream.always(answers(hello))
  const got = await ask({ max_completion_tokens: 50, temperature: 0, stop: 'x', user: 'somebody' })
  expect(got).toMatchObject({ status: 200, text: 'Hello', reason: 'stop', dropped: 'user' })
  await ask()
  const [exchange, first, second, ...more] = rig.upstream.requests
  expect(exchange?.path).toBe(place)
  expect(Object.fromEntries(new URLSearchParams(exchange?.body.toString()))).toEqual({
    grant_type: 'urn:ibm:params:oauth:grant-type:apikey',
    apikey: `api-key-${keys}`,
  })
  expect(more).toEqual([])
  expect(first?.target).toBe('/ml/v1/text/chat?version=2025-02-06')
  expect(first?.headers.get('authorization')).toBe('Bearer iam-token')
  expect(first?.fields).toEqual({
    model_id: model,
    project_id: 'project-1',
    messages: [{ role: 'user', content: 'Hi' }],
    max_tokens: 50,
    temperature: 0,
    stop: ['x'],
  })
  expect(second?.headers.get('authorization')).toBe('Bearer iam-token')
})

test('a stream is requested at its own URL and has no end marker, and the gateway adds an end marker to the caller’s stream', async () => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `event: message\ndata: ${JSON.stringify({ id: 'chat-1', model_id: model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const end = `event: message\ndata: ${JSON.stringify({ id: 'chat-1', model_id: model, choices: [], usage })}\n\n`
  rig.upstream.always(
    streams(chunk({ role: 'assistant', content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'time_limit'), end),
  )
  const got = await ask({ stream: true, stream_options: { include_usage: true } })
  expect(got).toMatchObject({ status: 200, text: 'Hello', reason: 'length', ended: true, usage })
  expect(rig.upstream.last.target).toBe('/ml/v1/text/chat_stream?version=2025-02-06')
  expect(lastBody(rig)).not.toHaveProperty('stream')
})

test('a required tool is named in tool_choice, and a tool choice that is a string is sent in a separate field', async () => {
  rig.upstream.always(answers(hello))
  const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }]
  await ask({ tools, tool_choice: 'required' })
  expect(lastBody(rig)).toMatchObject({ tools, tool_choice_option: 'required' })
  expect(lastBody(rig)).not.toHaveProperty('tool_choice')
  const tool_choice = { type: 'function', function: { name: 'weather' } }
  await ask({ tools, tool_choice })
  expect(lastBody(rig)).toMatchObject({ tools, tool_choice })
})

test('an error contains the service’s message and costs nothing', async () => {
  const errors = [{ code: 'model_not_supported', message: "Model 'x' is not supported" }]
  rig.upstream.always(answers({ errors, trace: 't', status_code: 404 }, 404))
  expect(await ask()).toMatchObject({
    status: 404,
    error: { code: 'model_not_supported', message: expect.stringContaining("Model 'x' is not supported") },
  })
})

test('a key that IBM refuses is reported to admins as a refused key', async () => {
  refusal = { errorCode: 'BXNIM0415E', errorMessage: 'Provided API key could not be found.' }
  const got = await ask()
  expect(got.error?.code).toBe('upstream_unavailable')
  expect(rig.upstream.requests.map(({ path }) => path)).toEqual([place])
  expect(await toldToAdmin(rig.gateway)).toContain("IBM Cloud's token service rejected the key")
})
