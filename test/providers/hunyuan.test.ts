// Tencent Hunyuan: it needs Tencent Cloud's signature and spells field names differently, and its errors have status
// 200.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { tc3Authorization } from '../../server/providers/hunyuan/tc3.ts'
import { chargedUnits, type Rig, startRelayRig } from '../relay/setup.ts'
import { answers, askChat, lastBody, streams, tokensOf, twoCalls, weather } from './services.ts'
import { toldToAdmin } from './told-to-admin.ts'

let rig: Rig

beforeAll(async () => {
  const ratios = '{"hunyuan-pro":1,"hunyuan-embedding":1}'
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: ratios, CompletionRatio: ratios } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(async () => {
  await rig.clear({ RetryTimes: '0' })
  await rig.channel({ type: 23, key: '125|AKIDexample|secret', models: 'hunyuan-pro,hunyuan-embedding' })
})

const Usage = { PromptTokens: 10, CompletionTokens: 5, TotalTokens: 15 }
const ask = (fields: object = {}, token?: string) =>
  askChat(rig, { model: 'hunyuan-pro', messages: [{ role: 'user', content: 'Hi' }], ...fields }, token)
const said = (Message: object, FinishReason = 'stop') => ({
  Response: { Choices: [{ Message: { Role: 'assistant', ...Message }, FinishReason }], Usage, Id: 'h-1', Created: 17 },
})
const delta = (Delta: object, FinishReason = '') => ({
  Choices: [{ Delta: { Role: 'assistant', ...Delta }, FinishReason }],
  Usage,
  Id: 'h-2',
  Created: 17,
})

test('requests have the service’s signature over the bytes that are sent', async () => {
  rig.upstream.always(answers(said({ Content: 'Hello' })))
  const caller = await rig.caller()
  expect(await ask({}, caller.token)).toMatchObject({ status: 200, text: 'Hello', reason: 'stop' })
  const [request] = rig.upstream.requests
  const header = (name: string) => request?.headers.get(name) ?? ''
  expect([request?.path, header('x-tc-action'), header('x-tc-version')]).toEqual(['/', 'ChatCompletions', '2023-09-01'])
  expect(header('authorization')).toBe(
    tc3Authorization({
      host: header('host'),
      service: 'hunyuan',
      action: 'ChatCompletions',
      contentType: header('content-type'),
      body: Buffer.from(request?.body ?? []).toString(),
      nowMs: Number(header('x-tc-timestamp')) * 1000,
      secretId: 'AKIDexample',
      secretKey: 'secret',
    }),
  )
  expect((await chargedUnits(rig, caller)).units).toBe(15)
})

test('requests and tool calls use the service’s spelling of names', async () => {
  const ToolCalls = [{ Id: 'c1', Type: 'function', Function: { Name: 'weather', Arguments: '{"place":"Bern"}' } }]
  rig.upstream.always(answers(said({ Content: '', ToolCalls }, 'tool_calls')))
  const got = await ask({
    messages: twoCalls,
    tools: [weather],
    tool_choice: 'auto',
    stop: 'x',
    max_tokens: 9,
    top_k: 4,
  })
  expect(got).toMatchObject({ reason: 'tool_calls', calls: [{ id: 'c1', name: 'weather', input: '{"place":"Bern"}' }] })
  expect(got.dropped.split(', ').sort()).toEqual(['max_tokens', 'top_k'])
  const call = (Id: string, place: string) => ({
    Id,
    Type: 'function',
    Function: { Name: 'weather', Arguments: `{"place":"${place}"}` },
  })
  expect(lastBody(rig)).toEqual({
    Model: 'hunyuan-pro',
    Messages: [
      { Role: 'system', Content: 'Be brief.' },
      { Role: 'user', Content: 'Weather in Rome and Oslo?' },
      { Role: 'assistant', Content: '', ToolCalls: [call('call_1', 'Rome'), call('call_2', 'Oslo')] },
      { Role: 'tool', Content: 'sunny', ToolCallId: 'call_1' },
      { Role: 'tool', Content: 'snow', ToolCallId: 'call_2' },
    ],
    Stream: false,
    Stop: ['x'],
    Tools: [
      {
        Type: 'function',
        Function: {
          Name: 'weather',
          Description: 'Tells the weather of a place',
          Parameters: JSON.stringify(weather.function.parameters),
        },
      },
    ],
    ToolChoice: 'auto',
  })
})

test('a stream is assembled with its reasoning and the pieces of its calls', async () => {
  const call = (Id: string, Name: string, Arguments: string) => ({
    ToolCalls: [{ Id, Type: 'function', Function: { Name, Arguments } }],
  })
  rig.upstream.always(
    streams(
      delta({ ReasoningContent: 'Hm' }),
      delta({ Content: 'I look.' }),
      delta(call('a', 'weather', '')),
      delta(call('a', '', '{"place":')),
      delta(call('a', '', '"Rome"}')),
      delta(call('b', 'weather', '{"place":"Oslo"}')),
      delta({ Content: '' }, 'tool_calls'),
    ),
  )
  const got = await ask({ stream: true, stream_options: { include_usage: true }, tools: [weather] })
  expect(got).toMatchObject({ thought: 'Hm', text: 'I look.', reason: 'tool_calls', ended: true })
  expect(got.calls).toEqual([
    { id: 'a', name: 'weather', input: '{"place":"Rome"}' },
    { id: 'b', name: 'weather', input: '{"place":"Oslo"}' },
  ])
  expect(tokensOf(got.usage)).toEqual({ prompt: 10, completion: 5 })
})

test('an error inside a stream is reported', async () => {
  rig.upstream.always(
    streams(delta({ Content: 'Half' }), { ErrorMsg: { Msg: 'internal error', Code: 2001 }, Choices: [] }),
  )
  const got = await ask({ stream: true })
  expect(got).toMatchObject({ text: 'Half', ended: false })
  expect(got.error?.message).toContain('internal error')
})

test('errors with status 200 get the status that matches their meaning, and admins see it if the service rejects a signature because of a wrong clock', async () => {
  const cases = [
    ['InvalidParameter', 400],
    ['AuthFailure.SignatureFailure', 503],
    ['RequestLimitExceeded', 429],
    ['FailedOperation.ResourcePackExhausted', 503],
    ['UnauthorizedOperation', 503],
    ['InternalError', 500],
  ] as const
  for (const [Code, status] of cases) {
    rig.upstream.always(answers({ Response: { Error: { Code, Message: `said ${Code}` }, RequestId: 'x' } }))
    for (const stream of [false, true]) {
      const got = await ask({ stream })
      const code = status === 503 ? 'upstream_unavailable' : Code
      expect({ Code, stream, status: got.status, code: got.error?.code }).toEqual({ Code, stream, status, code })
    }
  }
  const expired = { Code: 'AuthFailure.SignatureExpire', Message: 'The signature has expired.' }
  rig.upstream.always(answers({ Response: { Error: expired } }))
  expect((await ask()).status).toBe(503)
  expect(await toldToAdmin(rig.gateway)).toContain('the clock of this gateway may be wrong')
})

test('a filtered answer is reported as filtered', async () => {
  rig.upstream.always(answers(said({ Content: '' }, 'sensitive')))
  expect(await ask()).toMatchObject({ reason: 'content_filter' })
})

test('images are sent as separate parts, and embeddings are requested with another action of the API', async () => {
  rig.upstream.always(answers(said({ Content: 'A dog' })))
  const image = { type: 'image_url', image_url: { url: 'https://example.com/dog.png' } }
  await ask({ messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, image] }] })
  expect(lastBody(rig)['Messages']).toEqual([
    {
      Role: 'user',
      Contents: [
        { Type: 'text', Text: 'What?' },
        { Type: 'image_url', ImageUrl: { Url: 'https://example.com/dog.png' } },
      ],
    },
  ])
  const Data = [{ Embedding: [0.5], Index: 0, Object: 'embedding' }]
  rig.upstream.always(answers({ Response: { Data, Usage: { PromptTokens: 3, TotalTokens: 3 } } }))
  const caller = await rig.caller()
  const response = await rig.gateway.post('/v1/embeddings', { model: 'hunyuan-embedding', input: 'Hi' }, caller.token)
  expect(await response.json()).toMatchObject({ data: [{ embedding: [0.5] }], usage: { prompt_tokens: 3 } })
  expect(rig.upstream.requests.at(-1)?.headers.get('x-tc-action')).toBe('GetEmbedding')
  expect((await chargedUnits(rig, caller)).units).toBe(3)
})

test('the signature equals the example in Tencent Cloud’s documentation', () => {
  const body = '{"Limit": 1, "Filters": [{"Values": ["\\u672a\\u547d\\u540d"], "Name": "instance-name"}]}'
  const authorization = tc3Authorization({
    host: 'cvm.tencentcloudapi.com',
    service: 'cvm',
    action: 'DescribeInstances',
    contentType: 'application/json; charset=utf-8',
    body,
    nowMs: 1_551_113_065_000,
    secretId: 'AKID********************************',
    secretKey: '*'.repeat(32),
  })
  expect(authorization).toEndWith('Signature=10b1a37a7301a02ca19a647ad722d5e43b4b3cff309d421d85b46093f6ab6c4f')
})

test('a key with only one part selects OpenAI’s format', async () => {
  await rig.clear()
  await rig.channel({ type: 23, key: 'sk-hunyuan', models: 'hunyuan-pro' })
  expect((await ask()).status).toBe(200)
  expect(rig.upstream.requests[0]?.path).toBe('/v1/chat/completions')
})
