// Zhipu: the gateway signs the tokens itself, chatglm models use the old format, and all others use OpenAI's.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { jwt } from '../../server/providers/zhipu/index.ts'
import { chargedUnits, type Rig, startRelayRig } from '../relay/setup.ts'
import { answers, askChat, lastBody, streams, tokensOf } from './services.ts'
import { toldToAdmin } from './told-to-admin.ts'

const models = ['chatglm_pro', 'glm-4', 'glm-4.7', 'glm-5.2', 'glm-5.3', 'cogview-3', 'embedding-3']

let rig: Rig

beforeAll(async () => {
  const ratios = JSON.stringify(Object.fromEntries(models.map((model) => [model, 1])))
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: ratios, CompletionRatio: ratios } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(async () => {
  await rig.clear({ RetryTimes: '0' })
  await rig.channel({ type: 16, key: '12345678.abcdefg', models: models.join(',') })
})

const ask = (fields: object = {}, token?: string) =>
  askChat(rig, { model: 'chatglm_pro', messages: [{ role: 'user', content: 'Hi' }], ...fields }, token)
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

/** The claims of a token. Fails if its signature is wrong. */
function claimsOf(token: string): Record<string, unknown> {
  const [header = '', claims = '', signature] = token.split('.')
  expect(signature).toBe(createHmac('sha256', 'abcdefg').update(`${header}.${claims}`).digest('base64url'))
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS256', sign_type: 'SIGN' })
  return JSON.parse(Buffer.from(claims, 'base64url').toString())
}

test('in the old format, the request has a signed token and a prompt, and the answer is a quoted string', async () => {
  const data = { task_id: 't', request_id: 'r', choices: [{ role: 'assistant', content: '"Good \\"day\\""' }], usage }
  rig.upstream.always(answers({ code: 200, msg: 'ok', success: true, data }))
  const caller = await rig.caller()
  const got = await ask(
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      temperature: 0,
      seed: 1,
    },
    caller.token,
  )
  expect(got).toMatchObject({ status: 200, text: 'Good "day"', reason: 'stop', dropped: 'seed' })
  const [request] = rig.upstream.requests
  expect(request?.path).toBe('/api/paas/v3/model-api/chatglm_pro/invoke')
  const claims = claimsOf(request?.headers.get('authorization') ?? '')
  expect(claims['api_key']).toBe('12345678')
  expect(Math.abs(Number(claims['timestamp']) - Date.now())).toBeLessThan(60_000)
  expect(Number(claims['exp'])).toBeGreaterThan(Date.now())
  expect(lastBody(rig)).toEqual({
    prompt: [
      { role: 'user', content: 'Be brief.' },
      { role: 'assistant', content: 'Okay' },
      { role: 'user', content: 'Hi' },
    ],
    temperature: 0.01,
  })
  expect((await chargedUnits(rig, caller)).units).toBe(15)
})

test('the text of a stream in the old format, which is not JSON, and its usage are read', async () => {
  rig.upstream.always(
    streams(
      'id: 1\nevent: add\ndata: Good\n\n',
      'id: 1\nevent: add\ndata:  day,\ndata: \ndata: friend\n\n',
      `id: 1\nevent: finish\ndata: \nmeta: {"request_id":"r","task_status":"SUCCESS","usage":${JSON.stringify(usage)}}\n\n`,
    ),
  )
  const caller = await rig.caller()
  const got = await ask({ stream: true, stream_options: { include_usage: true } }, caller.token)
  expect(got).toMatchObject({ text: 'Good day,\n\nfriend', reason: 'stop', ended: true })
  expect(tokensOf(got.usage)).toEqual({ prompt: 10, completion: 5 })
  expect(rig.upstream.requests[0]?.path).toBe('/api/paas/v3/model-api/chatglm_pro/sse-invoke')
  expect(lastBody(rig)).toMatchObject({ incremental: true })
  expect((await chargedUnits(rig, caller)).units).toBe(15)
})

test('the caller gets an error if a stream in the old format breaks off or contains an error', async () => {
  rig.upstream.always(streams('event: add\ndata: Half\n\n'))
  expect(await ask({ stream: true })).toMatchObject({
    text: 'Half',
    ended: false,
    error: { code: 'upstream_stream_incomplete' },
  })
  rig.upstream.always(streams('event: add\ndata: Half\n\n', 'event: error\ndata: {"code":1305,"msg":"busy"}\n\n'))
  const failed = await ask({ stream: true })
  expect(failed.ended).toBe(false)
  expect(failed.error?.message).toContain('busy')
})

test('errors in the old format have status 200', async () => {
  for (const [code, status] of [
    [1002, 503],
    [1302, 429],
    [1214, 400],
    [1113, 503],
  ] as const) {
    for (const stream of [false, true]) {
      rig.upstream.always(answers({ code, msg: `said ${code}`, success: false }))
      const got = await ask({ stream })
      expect({ code, stream, status: got.status }).toEqual({ code, stream, status })
      if (status !== 503) expect(got.error?.message).toContain(`said ${code}`)
    }
  }
})

test('other models are called in OpenAI’s format, with the fields that they accept', async () => {
  expect((await ask({ model: 'glm-4', temperature: 0, top_p: 1 })).status).toBe(200)
  const [request] = rig.upstream.requests
  expect(request?.path).toBe('/api/paas/v4/chat/completions')
  const [word = '', token = ''] = (request?.headers.get('authorization') ?? '').split(' ')
  expect([word, claimsOf(token)['api_key']]).toEqual(['Bearer', '12345678'])
  expect(lastBody(rig)).toMatchObject({ model: 'glm-4', temperature: 0.01, top_p: 0.99 })
  await ask({ model: 'glm-4.7', temperature: 0, reasoning_effort: 'none' })
  expect(lastBody(rig)).toMatchObject({ temperature: 0, thinking: { type: 'disabled' } })
  expect(lastBody(rig)).not.toHaveProperty('reasoning_effort')
})

test.each([
  ['glm-4', 'high', {}, 'reasoning_effort'],
  ['glm-4.7', 'high', { thinking: { type: 'enabled' } }, 'reasoning_effort'],
  ['glm-4.7', 'none', { thinking: { type: 'disabled' } }, ''],
  ['glm-5.2', 'medium', { thinking: { type: 'enabled' }, reasoning_effort: 'medium' }, ''],
  ['glm-5.2', 'none', { thinking: { type: 'disabled' }, reasoning_effort: 'none' }, ''],
  ['glm-5.3', 'medium', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }, ''],
  ['glm-5.3', 'none', { thinking: { type: 'enabled' }, reasoning_effort: 'low' }, 'reasoning_effort'],
])(
  '%s gets the thinking setting that is closest to %s, and dropped settings are reported',
  async (model, effort, told, name) => {
    const got = await ask({ model, reasoning_effort: effort })
    const { thinking, reasoning_effort } = lastBody(rig) as Record<string, unknown>
    expect(JSON.parse(JSON.stringify({ thinking, reasoning_effort }))).toEqual(told)
    expect(got.dropped).toBe(name)
  },
)

test('numbers outside the service’s range are adjusted and reported, under the field names of each caller’s dialect', async () => {
  expect(await ask({ model: 'glm-4.7', temperature: 1.5, top_p: 0 })).toMatchObject({ dropped: 'temperature' })
  expect(lastBody(rig)).toMatchObject({ temperature: 1, top_p: 0.01 })
  const generationConfig = { temperature: 1.5 }
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const body = { contents, generationConfig }
  const answer = await rig.gateway.post('/v1beta/models/glm-4.7:generateContent', body)
  expect(answer.headers.get('x-tollgate-dropped')).toBe('generationConfig.temperature')
})

test('under strict translation, a number that would have to be adjusted is refused', async () => {
  await rig.gateway.setOption('StrictTranslationEnabled', 'true')
  expect((await ask({ model: 'glm-4.7', temperature: 1.5 })).status).toBe(400)
  expect((await ask({ model: 'glm-4.7', temperature: 1 })).status).toBe(200)
  await rig.gateway.setOption('StrictTranslationEnabled', 'false')
})

test('a base URL that ends with a version is used for another plan with the same format', async () => {
  await rig.clear()
  const base_url = `${rig.upstream.url}/api/coding/paas/v4`
  await rig.channel({ type: 16, key: 'a.b', models: 'glm-4.7', base_url })
  expect((await ask({ model: 'glm-4.7' })).status).toBe(200)
  expect(rig.upstream.requests[0]?.path).toBe('/api/coding/paas/v4/chat/completions')
})

test('errors keep their status, and admins see it if the service rejects a signature because of a wrong clock', async () => {
  rig.upstream.always(answers({ error: { code: '1302', message: 'too many at once' } }, 429))
  expect(await ask({ model: 'glm-4' })).toMatchObject({ status: 429 })
  rig.upstream.always(answers({ error: { code: '1003', message: 'token expired' } }, 401))
  const body = { model: 'glm-4', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
  const response = await rig.gateway.post('/v1/messages', body)
  expect(response.status).toBe(503)
  rig.upstream.always(answers({ code: 1003, msg: 'token expired', success: false }))
  expect(await toldToAdmin(rig.gateway, 'chatglm_pro')).toContain('the clock of this gateway may be wrong')
})

test('images are requested one at a time, by URL', async () => {
  rig.upstream.always(answers({ created: 1, data: [{ url: 'https://example.com/1.png' }] }))
  const post = (fields: object) =>
    rig.gateway.post('/v1/images/generations', { model: 'cogview-3', prompt: 'a cat', ...fields })
  expect(await (await post({ size: '1024x1024', user: 'me' })).json()).toMatchObject({
    data: [{ url: 'https://example.com/1.png' }],
  })
  expect(rig.upstream.requests[0]?.path).toBe('/api/paas/v4/images/generations')
  expect(lastBody(rig)).toEqual({ model: 'cogview-3', prompt: 'a cat', size: '1024x1024', user_id: 'me' })
  expect((await post({ response_format: 'b64_json' })).status).toBe(400)
  expect((await post({ n: 2 })).status).toBe(400)
  expect(rig.upstream.requests).toHaveLength(1)
})

test('embeddings are passed on unchanged', async () => {
  const response = await rig.gateway.post('/v1/embeddings', { model: 'embedding-3', input: 'Hi' })
  expect(response.status).toBe(200)
  expect(rig.upstream.requests[0]?.path).toBe('/api/paas/v4/embeddings')
})

test('a token contains the time in milliseconds and is signed with the unchanged secret', () => {
  expect(claimsOf(jwt('12345678.abcdefg', 1_700_000_000_000))).toEqual({
    api_key: '12345678',
    exp: 1_700_003_600_000,
    timestamp: 1_700_000_000_000,
  })
})
