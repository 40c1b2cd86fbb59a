// Spark over WebSocket: a signed URL, one message to the service, and frames in return.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { signedAddress } from '../../server/providers/spark/signed-address.ts'
import { chargedUnits, type Rig, startRelayRig } from '../relay/setup.ts'
import { askChat, tokensOf, twoCalls, weather } from './services.ts'
import { toldToAdmin } from './told-to-admin.ts'

const models = ['SparkDesk', 'Spark-Lite', 'Spark-Max', 'Spark-Pro-128K', 'Spark-4.0-Ultra']

/** A service that responds to the first message of each connection with frames. */
function startSpark() {
  const state = {
    frames: [] as object[],
    /** Closes the connection after the frames are sent. */
    closes: true,
    refusal: undefined as { status: number; body: string } | undefined,
    urls: [] as URL[],
    messages: [] as Record<string, Record<string, unknown>>[],
    closed: 0,
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, self) => {
      state.urls.push(new URL(request.url))
      if (state.refusal) return new Response(state.refusal.body, { status: state.refusal.status })
      return self.upgrade(request) ? undefined : new Response('', { status: 426 })
    },
    websocket: {
      message(socket, message) {
        state.messages.push(JSON.parse(String(message)))
        for (const frame of state.frames) socket.send(JSON.stringify(frame))
        if (state.closes) socket.close()
      },
      close: () => void state.closed++,
    },
  })
  return { state, host: `127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

let rig: Rig
let spark: ReturnType<typeof startSpark>

beforeAll(async () => {
  const ratios = JSON.stringify(Object.fromEntries(models.map((model) => [model, 1])))
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: ratios, CompletionRatio: ratios } })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(async () => {
  await rig.clear({ RetryTimes: '0' })
  spark = startSpark()
  await rig.channel({ type: 18, key: 'app|secret|key', base_url: `ws://${spark.host}`, models: models.join(',') })
})
afterEach(() => spark.stop())

const text = { question_tokens: 8, prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const frame = (status: number, part: object) => ({
  header: { code: 0, message: 'Success', sid: 'cht1', status },
  payload: {
    choices: { status, seq: status, text: [{ role: 'assistant', index: 0, ...part }] },
    ...(status === 2 && { usage: { text } }),
  },
})
const hello = [
  frame(0, { content: '', reasoning_content: 'Hm' }),
  frame(1, { content: 'Good ' }),
  frame(2, { content: 'day' }),
]
const ask = (fields: object = {}, token?: string) =>
  askChat(rig, { model: 'Spark-Max', messages: [{ role: 'user', content: 'Hi' }], ...fields }, token)
const failing = (code: number, message: string) => [{ header: { code, message, sid: 'cht1', status: 2 } }]

test('answers have the same content whether they are streamed or not, and cost what the last frame reports', async () => {
  spark.state.frames = hello
  const caller = await rig.caller()
  const whole = await ask({}, caller.token)
  expect(whole).toMatchObject({ status: 200, text: 'Good day', thought: 'Hm', reason: 'stop' })
  const stream = await ask({ stream: true, stream_options: { include_usage: true } }, caller.token)
  expect(stream).toMatchObject({ text: 'Good day', thought: 'Hm', reason: 'stop', ended: true })
  expect(tokensOf(stream.usage)).toEqual({ prompt: 10, completion: 5 })
  expect((await chargedUnits(rig, caller)).units).toBe(30)
})

test('the URL is signed, and the message has the service’s format', async () => {
  spark.state.frames = hello
  const got = await ask({
    model: 'Spark-4.0-Ultra',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ],
    temperature: 0,
    max_tokens: 9,
    top_k: 40,
    seed: 1,
    user: 'me',
  })
  expect(got.dropped).toBe('top_k, seed')
  const [url] = spark.state.urls
  const date = url?.searchParams.get('date') ?? ''
  expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(300_000)
  const signature = createHmac('sha256', 'secret')
    .update(`host: ${spark.host}\ndate: ${date}\nGET /v4.0/chat HTTP/1.1`)
    .digest('base64')
  expect(Buffer.from(url?.searchParams.get('authorization') ?? '', 'base64').toString()).toBe(
    `api_key="key", algorithm="hmac-sha256", headers="host date request-line", signature="${signature}"`,
  )
  expect(url?.searchParams.get('host')).toBe(spark.host)
  expect(spark.state.messages).toEqual([
    {
      header: { app_id: 'app', uid: 'me' },
      parameter: { chat: { domain: '4.0Ultra', temperature: 0.01, top_k: 6, max_tokens: 9 } },
      payload: {
        message: {
          text: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: 'Hi' },
          ],
        },
      },
    },
  ])
})

test('the version comes from the model name, or else from the channel, or else is v2.1', async () => {
  spark.state.frames = hello
  for (const model of ['SparkDesk', 'Spark-Lite', 'Spark-Pro-128K']) await ask({ model })
  await rig.clear()
  const base_url = `http://${spark.host}`
  await rig.channel({ type: 18, key: 'app|secret|key', base_url, models: 'SparkDesk', other: 'v3.1' })
  await ask({ model: 'SparkDesk' })
  expect(spark.state.urls.map(({ pathname }) => pathname)).toEqual([
    '/v2.1/chat',
    '/v1.1/chat',
    '/chat/pro-128k',
    '/v3.1/chat',
  ])
  const domains = spark.state.messages.map(({ parameter = {} }) => (parameter['chat'] as { domain: string }).domain)
  expect(domains).toEqual(['generalv2', 'lite', 'pro-128k', 'generalv3'])
})

test('for models that accept no system prompt, the system prompt is sent as the first messages', async () => {
  spark.state.frames = hello
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ]
  await ask({ model: 'Spark-Lite', messages })
  expect(spark.state.messages[0]?.['payload']).toEqual({
    message: {
      text: [
        { role: 'user', content: 'Be brief.' },
        { role: 'assistant', content: 'Okay' },
        { role: 'user', content: 'Hi' },
      ],
    },
  })
})

test('functions are declared, called and answered, and are refused for models that do not support them', async () => {
  spark.state.frames = [frame(2, { content: '', function_call: { name: 'weather', arguments: '{"place":"Bern"}' } })]
  for (const stream of [false, true]) {
    const got = await ask({ messages: twoCalls, tools: [weather], stream })
    expect(got).toMatchObject({ reason: 'tool_calls', calls: [{ name: 'weather', input: '{"place":"Bern"}' }] })
  }
  const payload = spark.state.messages[0]?.['payload'] ?? {}
  expect(payload['functions']).toEqual({ text: [weather.function] })
  const said = (payload['message'] as { text: { role: string; content: string }[] }).text
  expect(said.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
  expect(said.at(-1)?.content).toContain('sunny')
  const refused = await ask({ model: 'Spark-Lite', tools: [weather] })
  expect(refused.status).toBe(400)
  expect(refused.error?.message).toContain('tools')
})

test('an error in the first frame gets the status that matches its meaning', async () => {
  for (const [code, status] of [
    [10_013, 400],
    [11_200, 503],
    [11_202, 429],
    [10_907, 400],
    [10_008, 503],
  ] as const) {
    spark.state.frames = failing(code, `said ${code}`)
    for (const stream of [false, true]) {
      const got = await ask({ stream })
      expect({ code, stream, status: got.status }).toEqual({ code, stream, status })
      if (code !== 11_200) expect(got.error?.message).toContain(`said ${code}`)
    }
  }
})

test('an error after the first frame is reported in the stream, or makes an answer that is not streamed fail', async () => {
  spark.state.frames = [frame(0, { content: 'Half' }), ...failing(10_014, 'output audit')]
  const stream = await ask({ stream: true })
  expect(stream).toMatchObject({ text: 'Half', ended: false })
  expect(stream.error?.message).toContain('output audit')
  expect((await ask()).status).toBe(400)
})

test('a connection that closes before the last frame is not a complete answer', async () => {
  spark.state.frames = [frame(0, { content: 'Half' })]
  expect((await ask({ stream: true })).error?.code).toBe('upstream_stream_incomplete')
  expect((await ask()).status).toBe(502)
  spark.state.frames = []
  expect((await ask({ stream: true })).status).toBe(502)
})

test('a refused signature and a wrong clock are each reported to admins', async () => {
  spark.state.refusal = { status: 401, body: '{"message":"HMAC signature does not match"}' }
  const refused = await ask()
  expect(refused.status).toBe(503)
  expect(await toldToAdmin(rig.gateway, 'Spark-Max')).toContain('HMAC signature does not match')
  const message = 'HMAC signature cannot be verified, a valid date or x-date header is required'
  spark.state.refusal = { status: 403, body: JSON.stringify({ message }) }
  expect((await ask({ stream: true })).status).toBe(503)
  expect(await toldToAdmin(rig.gateway, 'Spark-Max')).toContain('the clock of this gateway may be wrong')
})

test('a channel test of a Spark channel works', async () => {
  const [row] = await rig.gateway.context.store.read.selectFrom('channels').select('id').execute()
  const probe = async () =>
    (await (
      await fetch(`${rig.gateway.url}/api/channel/test/${row?.id}?model=Spark-Max`, {
        headers: { authorization: 'testgatewayaccesstoken' },
      })
    ).json()) as { success: boolean; message: string }
  spark.state.frames = hello
  expect(await probe()).toMatchObject({ success: true })
  spark.state.frames = failing(11_200, 'AppIdNoAuthError')
  expect(await probe()).toMatchObject({ success: false, message: expect.stringContaining('AppIdNoAuthError') })
})

test('a service that cannot be reached is reported as an upstream error', async () => {
  spark.stop()
  expect((await ask()).status).toBe(502)
})

test('the connection is closed when the caller disconnects', async () => {
  spark.state.closes = false
  spark.state.frames = [frame(0, { content: 'One' }), frame(1, { content: 'Two' })]
  const leaving = new AbortController()
  const body = JSON.stringify({ model: 'Spark-Max', stream: true, messages: [{ role: 'user', content: 'Hi' }] })
  const response = await rig.gateway.post('/v1/chat/completions', body, undefined, { signal: leaving.signal })
  const reader = response.body?.getReader()
  await reader?.read()
  leaving.abort()
  await reader?.read().catch(() => undefined)
  while (spark.state.closed === 0) await new Promise((resolve) => setTimeout(resolve, 5))
})

test('the signed URL equals the example in the documentation', () => {
  const key = { apiKey: 'addd2272b6d8b7c8abdd79531420ca3b', apiSecret: 'MjlmNzkzNmZkMDQ2OTc0ZDdmNGE2ZTZi' }
  const atMs = Date.parse('Fri, 05 May 2023 10:43:39 GMT')
  const url = signedAddress('wss://spark-api.xf-yun.com/v1.1/chat', key, atMs)
  const signature = 'z5gHdu3pxVV4ADMyk467wOWDQ9q6BQzR3nfMTjc/DaQ='
  const said = Buffer.from(new URL(url).searchParams.get('authorization') ?? '', 'base64').toString()
  expect(said).toContain(`signature="${signature}"`)
  expect(url).toEndWith('&date=Fri%2C+05+May+2023+10%3A43%3A39+GMT&host=spark-api.xf-yun.com')
})
