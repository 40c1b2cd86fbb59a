// Services with their own formats, used by callers of the other dialects: everyone gets the same answer, tools and
// errors.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Behaviour } from '../helpers/fake-upstream.ts'
import { chargedUnits, type Rig, see, startRelayRig } from '../relay/setup.ts'
import { answers, streams } from './services.ts'

const model = 'm'
const schema = { type: 'object', properties: { place: { type: 'string' } } }
const args = '{"place":"Bern"}'

/** A service's answer "Good day", complete and streamed, its tool call, and its error when it is overloaded. */
interface Service {
  type: number
  key: string
  whole: object
  stream: object[]
  call: object
  busy: object
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const Usage = { PromptTokens: 10, CompletionTokens: 5, TotalTokens: 15 }
const ali = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
const ernie = (result: string, is_end: boolean, rest: object = {}) => ({ id: 'a', result, is_end, usage, ...rest })
const tencent = (Content: string, FinishReason: string, rest: object = {}) => ({ Content, FinishReason, ...rest })
const dashscope = (content: string, finish_reason: string, rest: object = {}) => ({
  output: { choices: [{ message: { role: 'assistant', content, ...rest }, finish_reason }] },
  usage: ali,
  request_id: 'r',
})

const services: Record<string, Service> = {
  ernie: {
    type: 15,
    key: 'a|b',
    whole: ernie('Good day', true),
    stream: [ernie('Good ', false), ernie('day', true)],
    call: ernie('', true, { finish_reason: 'function_call', function_call: { name: 'weather', arguments: args } }),
    busy: { error_code: 18, error_msg: 'slow down' },
  },
  hunyuan: {
    type: 23,
    key: 'a|b|c',
    whole: hunyuanWhole(tencent('Good day', 'stop')),
    stream: [hunyuanEvent(tencent('Good ', '')), hunyuanEvent(tencent('day', 'stop'))],
    call: hunyuanWhole(
      tencent('', 'tool_calls', {
        ToolCalls: [{ Id: 'c', Type: 'function', Function: { Name: 'weather', Arguments: args } }],
      }),
    ),
    busy: { Response: { Error: { Code: 'RequestLimitExceeded', Message: 'slow down' } } },
  },
  dashscope: {
    type: 17,
    key: 'k',
    whole: dashscope('Good day', 'stop'),
    stream: [dashscope('Good ', 'null'), dashscope('day', 'stop')],
    call: dashscope('', 'tool_calls', {
      tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'weather', arguments: args } }],
    }),
    busy: { code: 'Throttling', message: 'slow down', request_id: 'r' },
  },
}

function hunyuanWhole({ FinishReason, ...Message }: ReturnType<typeof tencent>): object {
  return { Response: { Choices: [{ FinishReason, Message: { Role: 'assistant', ...Message } }], Usage } }
}

function hunyuanEvent({ FinishReason, ...Delta }: ReturnType<typeof tencent>): object {
  return { Choices: [{ FinishReason, Delta: { Role: 'assistant', ...Delta } }], Usage }
}

/** The same question in each dialect, and the end of the answer in that dialect. */
const callers = {
  'openai-responses': {
    path: '/v1/responses',
    streamPath: '/v1/responses',
    body: { model, input: 'Hi', tools: [{ type: 'function', name: 'weather', parameters: schema }] },
    stream: { stream: true },
    end: '"response.completed"',
  },
  'anthropic-messages': {
    path: '/v1/messages',
    streamPath: '/v1/messages',
    body: {
      model,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: 'weather', input_schema: schema }],
    },
    stream: { stream: true },
    end: '"message_stop"',
  },
  gemini: {
    path: `/v1beta/models/${model}:generateContent`,
    streamPath: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: schema }] }],
    },
    stream: {},
    end: '"finishReason":"STOP"',
  },
} as const

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ RetryTimes: '0' }))

describe.each(Object.entries(services))('%s', (_name, service) => {
  const begin = async (behaviour: Behaviour) => {
    await rig.channel({ type: service.type, key: service.key })
    rig.upstream.script(({ path }) =>
      path === '/oauth/2.0/token' ? answers({ access_token: 't', expires_in: 1000 }) : behaviour,
    )
  }

  test.each(Object.entries(callers))('answers callers of %s, streamed and not', async (_dialect, asked) => {
    await begin(answers(service.whole))
    const caller = await rig.caller()
    const whole = await see(rig.gateway.post(asked.path, asked.body, caller.token))
    expect({ status: whole.status, said: whole.text.includes('Good day') }).toEqual({ status: 200, said: true })
    await rig.clear()
    await begin(streams(...service.stream))
    const stream = await see(rig.gateway.post(asked.streamPath, { ...asked.body, ...asked.stream }, caller.token))
    expect(stream.text).toContain('Good ')
    expect(stream.text).toContain(asked.end)
    expect((await chargedUnits(rig, caller)).units).toBe(30)
  })

  test.each(Object.entries(callers))('calls a tool for callers of %s', async (_dialect, asked) => {
    await begin(answers(service.call))
    const seen = await see(rig.gateway.post(asked.path, asked.body))
    expect(seen.status).toBe(200)
    expect(seen.text).toContain('"weather"')
    expect(seen.text).toContain('Bern')
    expect(JSON.stringify(rig.upstream.requests.at(-1)?.json)).toContain('place')
  })

  test.each(Object.entries(callers))('reports to callers of %s that it is overloaded', async (_dialect, asked) => {
    await begin(answers(service.busy))
    const seen = await see(rig.gateway.post(asked.path, asked.body))
    expect(seen.status).toBe(429)
    expect(seen.text).toContain('slow down')
  })
})
