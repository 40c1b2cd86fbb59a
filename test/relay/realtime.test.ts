import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type AddressInfo, connect, createServer } from 'node:net'
import OpenAI from 'openai'
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket'
import { selfSignedCertificate } from '../helpers/fake-upstream/certificate.ts'
import { closedPort } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import {
  openSession,
  type RealtimeUpstream,
  refusedSession,
  response,
  startRealtimeUpstream,
  textUsage,
} from '../helpers/realtime-upstream.ts'
import { type LogRow, startTestGateway } from '../helpers/test-gateway.ts'
import { startChildGateway } from './child-gateway.ts'
import { charged, chargedUnits, type Rig, startRelayRig, until } from './setup.ts'

let rig: Rig
let upstream: RealtimeUpstream

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { ModelRatio: '{"m":1,"m2":1,"m.2":1}' } })
  upstream = await startRealtimeUpstream()
})

afterAll(async () => {
  await upstream[Symbol.asyncDispose]()
  await rig[Symbol.asyncDispose]()
})

let firstOpen: RealtimeUpstream['onOpen']
beforeAll(() => {
  firstOpen = upstream.onOpen
})

afterEach(async () => {
  await until(async () => (await rig.gateway.context.store.read.selectFrom('holds').selectAll().execute()).length === 0)
  await rig.clear()
  upstream.connections.length = 0
  upstream.requests.length = 0
  upstream.answers.length = 0
  upstream.onOpen = firstOpen
  upstream.onMessage = () => undefined
})

const channel = (fields = {}) => rig.channel({ base_url: upstream.url, ...fields })

const failed = { status: 502, code: 'do_request_failed' }

const refused = (query: string, token: string, headers: Record<string, string> = {}) =>
  refusedSession(rig.gateway.url, query, token, headers)

describe('a session', () => {
  test('passes on the messages of both sides, and is charged for the usage that the upstream reports', async () => {
    await channel()
    const caller = await rig.caller()
    upstream.onMessage = (connection) => connection.send(...response('r1', textUsage(20, 5), { text: 'Hello' }))
    const session = await openSession(rig.gateway.url, caller.token, 'model=m', {
      headers: { 'openai-beta': 'realtime=v1' },
    })
    await session.event('session.created')
    session.send({ type: 'response.create' })
    await session.event('response.done')
    session.socket.close(1000, 'bye')
    const [row] = await charged(rig, caller, 25)
    expect(row).toMatchObject({
      prompt_tokens: 20,
      completion_tokens: 5,
      is_stream: 1,
      outcome: 'complete',
      estimated: 0,
      model_name: 'm',
    })
    const connection = await upstream.connection()
    expect(connection.url.pathname + connection.url.search).toBe('/v1/realtime?model=m')
    expect(connection.headers.get('authorization')).toBe('Bearer upstream-key')
    expect(connection.headers.get('openai-beta')).toBe('realtime=v1')
    expect(connection.got).toEqual([JSON.stringify({ type: 'response.create' })])
    expect(await connection.closed).toEqual({ code: 1000, reason: 'bye' })
  })

  test('of a virtual model continues with the next step if the first one refuses it, and is charged for the step that serves it', async () => {
    await channel({ key: 'first-key' })
    await channel({ models: 'm2', key: 'second-key' })
    const { id } = await rig.gateway.api<{ id: number }>('POST', '/api/virtual-model/', {
      ...{ name: 'best', steps: [{ model: 'm' }, { model: 'm2' }] },
    })
    const caller = await rig.caller()
    upstream.answers.push(() => new Response('busy', { status: 503 }))
    upstream.onMessage = (connection) => connection.send(...response('r1', textUsage(20, 5), { text: 'Hello' }))
    const session = await openSession(rig.gateway.url, caller.token, 'model=best')
    await session.event('session.created')
    session.send({ type: 'response.create' })
    await session.event('response.done')
    session.socket.close(1000, 'bye')
    await rig.gateway.api('DELETE', `/api/virtual-model/${id}`)
    const [row, ...others] = await charged(rig, caller, 25)
    expect(others).toEqual([])
    expect(row).toMatchObject({ model_name: 'm2', asked_model: 'best', outcome: 'complete' })
    const connection = await upstream.connection()
    expect(connection.url.search).toBe('?model=m2')
    expect(connection.headers.get('authorization')).toBe('Bearer second-key')
    expect(JSON.parse(row?.attempts || '[]')).toMatchObject([{ model: 'm' }, { model: 'm2' }])
  })

  test('is charged for the sum of all responses, each counted once, with a price for each kind of token', async () => {
    await channel({ models: 'gpt-realtime' })
    const caller = await rig.caller()
    const usage = {
      total_tokens: 150,
      input_tokens: 100,
      output_tokens: 50,
      input_token_details: {
        text_tokens: 40,
        audio_tokens: 60,
        cached_tokens: 30,
        cached_tokens_details: { text_tokens: 10, audio_tokens: 20 },
      },
      output_token_details: { text_tokens: 20, audio_tokens: 30 },
    }
    upstream.onMessage = (connection) => {
      const [created, done] = response('r1', usage)
      connection.send(created, done, done, ...response('r2', usage))
    }
    const session = await openSession(rig.gateway.url, caller.token, 'model=gpt-realtime')
    session.send({ type: 'response.create' })
    await session.event('response.done', 2)
    session.socket.close()
    // Units per token: 2 for input, 0.2 for cached input, 16 for audio input, 8 for output and 32 for audio output.
    const once = 20 * 0.2 + 40 * 16 + 10 * 0.2 + 30 * 2 + 20 * 8 + 30 * 32
    const [row] = await charged(rig, caller, 2 * once)
    expect(row).toMatchObject({ prompt_tokens: 200, completion_tokens: 100, cached_tokens: 60, estimated: 0 })
    expect(row?.content).toContain('realtime, responses: 2')
  })

  test('passes on text and bytes of any size, unchanged and in order', async () => {
    await channel()
    const caller = await rig.caller()
    upstream.onMessage = (connection, message) => connection.socket.send(message)
    const session = await openSession(rig.gateway.url, caller.token)
    await session.event('session.created')
    const sizes = [0, 1, 125, 126, 65_535, 65_536, 1_000_000, 3, 15_000_000, 7]
    const sent = sizes.map((size, index) =>
      index % 2 === 0 ? `{"n":${index}}${'ä'.repeat(size / 2)}` : new Uint8Array(size).map((_, at) => at * 7 + index),
    )
    for (const message of sent) session.socket.send(message)
    await until(() => session.got.length === sent.length + 1)
    expect(session.got.slice(1).map((each) => Bun.hash(each))).toEqual(sent.map((each) => Bun.hash(each)))
    expect(session.got.slice(1).map((each) => typeof each)).toEqual(sent.map((each) => typeof each))
    session.socket.close()
    await charged(rig, caller, 0)
  })

  test('answers pings from both sides', async () => {
    await channel()
    const caller = await rig.caller()
    const session = await openSession(rig.gateway.url, caller.token)
    const connection = await upstream.connection()
    connection.socket.ping('to the gateway')
    await until(() => connection.pongs.length === 1)
    expect(connection.pongs).toEqual(['to the gateway'])
    const pong = new Promise((resolve) => session.socket.addEventListener('pong', ({ data }) => resolve(data)))
    session.socket.ping('to the gateway too')
    expect(Buffer.from((await pong) as ArrayBuffer).toString()).toBe('to the gateway too')
    session.socket.close()
  })

  test('accepts a browser’s key as a subprotocol, and selects the subprotocol that is not a key', async () => {
    await channel()
    const caller = await rig.caller()
    const session = await openSession(rig.gateway.url, '', 'model=m', {
      protocols: ['realtime', `openai-insecure-api-key.${caller.token}`, 'openai-beta.realtime-v1'],
    })
    expect(session.socket.protocol).toBe('realtime')
    const { headers } = await upstream.connection()
    expect(headers.get('openai-beta')).toBe('realtime=v1')
    expect(JSON.stringify([...headers])).not.toContain(caller.token.slice(3))
    session.socket.close()
  })

  test('works with the client of the official SDK', async () => {
    await channel()
    const caller = await rig.caller()
    upstream.onMessage = (connection, message) => {
      const event = JSON.parse(String(message)) as { type: string }
      if (event.type === 'response.create') connection.send(...response('r1', textUsage(7, 3), { text: 'Hi there' }))
    }
    const client = new OpenAI({ apiKey: caller.token, baseURL: `${rig.gateway.url}/v1` })
    const realtime = withoutTls(() => new OpenAIRealtimeWebSocket({ model: 'm' }, client))
    const text = await new Promise<string>((resolve, reject) => {
      let said = ''
      realtime.on('session.created', () => realtime.send({ type: 'response.create' }))
      realtime.on('response.output_text.delta', ({ delta }) => {
        said += delta
      })
      realtime.on('response.done', () => resolve(said))
      realtime.on('error', reject)
    })
    expect(text).toBe('Hi there')
    realtime.close()
    await charged(rig, caller, 10)
  })

  test('is opened on Azure with either form of URL, with the deployment and the key in the places that Azure expects', async () => {
    const caller = await rig.caller()
    const azure = { type: 3, model_mapping: '{"m":"m.2"}' }
    const id = await channel({ ...azure, other: '2025-04-01-preview' })
    const first = await openSession(rig.gateway.url, caller.token)
    first.socket.close()
    await rig.gateway.api('DELETE', `/api/channel/${id}`)
    await channel({ ...azure, other: 'v1' })
    const second = await openSession(rig.gateway.url, caller.token)
    second.socket.close()
    const paths = upstream.connections.map(({ url }) => url.pathname + url.search)
    expect(paths).toEqual([
      '/openai/realtime?api-version=2025-04-01-preview&deployment=m.2',
      '/openai/v1/realtime?model=m.2',
    ])
    for (const { headers } of upstream.connections) {
      expect(headers.get('api-key')).toBe('upstream-key')
      expect(headers.get('authorization')).toBeNull()
    }
  })
})

/** The SDK connects only over TLS, which is normally terminated by a proxy in front of the gateway. */
function withoutTls<T>(connect: () => T): T {
  const { WebSocket } = globalThis
  globalThis.WebSocket = class extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(String(url).replace('wss://', 'ws://'), protocols)
    }
  } as typeof WebSocket
  try {
    return connect()
  } finally {
    globalThis.WebSocket = WebSocket
  }
}

describe('a session that is refused before it becomes a WebSocket', () => {
  test('is refused because of the caller, the request, or the cost', async () => {
    await channel()
    const { gateway } = rig
    const caller = await rig.caller()
    expect(await refused('model=m', '')).toMatchObject({ status: 401, code: 'invalid_token' })
    expect(await refused('model=m', 'sk-nobody')).toMatchObject({ status: 401, code: 'invalid_token' })
    expect(await refused('', caller.token)).toMatchObject({ status: 400, code: 'required_field_missing' })
    expect(await refused('model=m&intent=transcription', caller.token)).toMatchObject({
      status: 501,
      code: 'api_not_implemented',
    })
    expect(await refused('call_id=rtc_1', caller.token)).toMatchObject({ status: 501, code: 'api_not_implemented' })
    expect(await refused('model=unknown', caller.token)).toMatchObject({ status: 503, code: 'no_available_channel' })
    const bound = await rig.caller(undefined, { token: { models: 'm2' } })
    expect(await refused('model=m', bound.token)).toMatchObject({ status: 403, code: 'model_not_allowed' })
    const elsewhere = await rig.caller(undefined, { token: { subnet: '10.0.0.0/8' } })
    expect(await refused('model=m', elsewhere.token)).toMatchObject({ status: 403, code: 'ip_not_allowed' })
    const poor = await rig.caller({ user: 0, token: 1000 })
    expect(await refused('model=m', poor.token)).toMatchObject({ status: 403, code: 'insufficient_user_quota' })
    const plain = await fetch(`${gateway.url}/v1/realtime?model=m`, {
      headers: { authorization: `Bearer ${caller.token}` },
    })
    expect(plain.status).toBe(426)
    expect(plain.headers.get('upgrade')).toBe('websocket')
    expect(await plain.json()).toMatchObject({ error: { code: 'upgrade_required', type: 'invalid_request_error' } })
    expect(upstream.requests).toEqual([])
    expect((await gateway.balances(caller.userId, caller.tokenId)).holds).toBe(0)
  })

  test('is refused because the channel’s type does not support sessions', async () => {
    const caller = await rig.caller()
    const id = await channel({ type: 14 })
    expect(await refused('model=m', caller.token)).toMatchObject({ status: 400, code: 'mode_not_supported' })
    expect(await refused('model=m', `${rig.gateway.token}-${id}`)).toMatchObject({
      status: 400,
      code: 'mode_not_supported',
    })
  })

  test('is refused by the upstream: the caller gets its status and message without the key, and nothing is charged', async () => {
    await channel({ key: 'a-secret-key' })
    const caller = await rig.caller()
    upstream.answers.push(() =>
      Response.json({ error: { message: 'no a-secret-key here', type: 'tokens', code: 'nope' } }, { status: 422 }),
    )
    const answer = await refused('model=m', caller.token)
    expect(answer).toMatchObject({ status: 422, code: 'nope', type: 'tokens' })
    expect(answer.message).toContain('no [key] here')
    expect((await rig.gateway.balances(caller.userId, caller.tokenId)).used).toBe(0)
    expect(await rig.gateway.logs().then((rows) => rows.filter((row) => row.token_id === caller.tokenId))).toEqual([])
  })
})

describe('choosing a channel for a session', () => {
  for (const what of ['answers 500', 'cannot be reached']) {
    test(`continues with another channel if the first ${what}`, async () => {
      await rig.gateway.setOption('RetryTimes', '1')
      const first = await channel({
        priority: 10,
        ...(what === 'cannot be reached' && { base_url: `http://127.0.0.1:${await closedPort()}` }),
      })
      const second = await channel({ priority: 0, key: 'second-key', model_mapping: '{"m":"m2"}' })
      if (what === 'answers 500') upstream.answers.push(() => new Response('broken', { status: 500 }))
      const caller = await rig.caller()
      upstream.onMessage = (connection) => connection.send(...response('r1', textUsage(1, 1)))
      const session = await openSession(rig.gateway.url, caller.token)
      session.send({ type: 'response.create' })
      await session.event('response.done')
      session.socket.close()
      const [row] = await charged(rig, caller, 2)
      expect(row).toMatchObject({ channel_id: second, model_name: 'm2' })
      const attempts = JSON.parse(row?.attempts ?? '[]') as { channelId: number; status: number }[]
      expect(attempts.map(({ channelId, status }) => [channelId, status])).toEqual([
        [first, what === 'answers 500' ? 500 : 0],
        [second, 101],
      ])
      expect((await upstream.connection()).headers.get('authorization')).toBe('Bearer second-key')
      await rig.gateway.setOption('RetryTimes', '0')
    })
  }

  test('tries a channel’s other keys if one is refused', async () => {
    await channel({ key: 'key-one\nkey-two', key_mode: 'multi' })
    upstream.answers.push(() => Response.json({ error: { message: 'bad key' } }, { status: 401 }))
    const caller = await rig.caller()
    const session = await openSession(rig.gateway.url, caller.token)
    const keys = upstream.requests.map((request) => request.headers.get('authorization'))
    expect(new Set(keys)).toEqual(new Set(['Bearer key-one', 'Bearer key-two']))
    session.socket.close()
  })

  test('never leads to a metadata service', async () => {
    const id = await channel()
    await rig.gateway.context.store.write((trx) =>
      trx.updateTable('channels').set({ base_url: 'http://169.254.169.254' }).where('id', '=', id).execute(),
    )
    await rig.gateway.context.store.notices.publish({ topic: 'channels', id: 0 })
    const caller = await rig.caller()
    expect(await refused('model=m', caller.token)).toMatchObject({ status: 502, code: 'do_request_failed' })
  })
})

describe('the end of a session', () => {
  test('if the upstream closes it: the caller gets the upstream’s code and reason, without the key', async () => {
    await channel({ key: 'a-secret-key' })
    const caller = await rig.caller()
    upstream.onMessage = (connection) => connection.socket.close(4001, 'over for a-secret-key')
    const session = await openSession(rig.gateway.url, caller.token)
    session.send({ type: 'session.update' })
    expect(await session.closed).toEqual({ code: 4001, reason: 'over for [key]' })
    const [row] = await charged(rig, caller, 0)
    expect(row).toMatchObject({ outcome: 'complete', quota: 0, estimated: 0 })
  })

  test('if the upstream’s connection breaks: the caller gets an error, and what was transferred is charged', async () => {
    await channel()
    const caller = await rig.caller()
    upstream.onMessage = (connection, message) => {
      if (!String(message).includes('response.create')) return
      connection.send(...response('r1', undefined, { text: 'Hello world, this is it' }).slice(0, 2))
      setTimeout(() => connection.socket.terminate(), 20)
    }
    const session = await openSession(rig.gateway.url, caller.token)
    const text = 'Say hello to the world'
    session.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    })
    session.send({ type: 'response.create' })
    const error = await session.event('error')
    expect(error).toMatchObject({ error: { code: 'upstream_stream_error', type: 'upstream_error', event_id: null } })
    expect(await session.closed).toEqual({ code: 1011, reason: 'upstream_stream_error' })
    const { units, rows } = await chargedUnits(rig, caller)
    expect(rows[0]).toMatchObject({ outcome: 'interrupted', estimated: 1, prompt_tokens: 5, completion_tokens: 6 })
    expect(units).toBe(11)
  })

  test('before any usage has been reported: audio is charged by its length', async () => {
    await channel({ models: 'gpt-realtime' })
    const caller = await rig.caller()
    const second = Buffer.alloc(48_000).toString('base64')
    upstream.onMessage = (connection, message) => {
      if (!String(message).includes('response.create')) return
      connection.send(
        { type: 'response.created', response: { id: 'r1' } },
        { type: 'response.output_audio.delta', response_id: 'r1', delta: second },
      )
    }
    const session = await openSession(rig.gateway.url, caller.token, 'model=gpt-realtime')
    session.send({ type: 'input_audio_buffer.append', audio: second })
    session.send({ type: 'response.create' })
    await session.event('response.output_audio.delta')
    session.socket.close()
    // One second is 10 input tokens and 20 output tokens, at 16 and 32 units each.
    const [row] = await charged(rig, caller, 10 * 16 + 20 * 32)
    expect(row).toMatchObject({ outcome: 'aborted', estimated: 1, prompt_tokens: 10, completion_tokens: 20 })
  })

  test('with impossible usage: that usage is not charged', async () => {
    await channel()
    const wrong = [
      { input_tokens: -5, output_tokens: 5 },
      { input_tokens: 5, output_tokens: 0.5 },
      { input_tokens: 1e12, output_tokens: 1 },
      { input_tokens: 0, output_tokens: 0 },
      { input_tokens: '7', output_tokens: '9' },
    ]
    for (const usage of wrong) {
      const caller = await rig.caller()
      upstream.onMessage = (connection) => connection.send(...response('r1', usage, { text: 'Hello world' }))
      const session = await openSession(rig.gateway.url, caller.token)
      session.send({ type: 'response.create' })
      await session.event('response.done')
      session.socket.close()
      const [row] = await charged(rig, caller, 2)
      expect(row).toMatchObject({ outcome: 'complete', estimated: 1, completion_tokens: 2 })
      expect(row?.content).toContain('usage of the upstream refused')
    }
  })

  test('after a time limit of the options: if both sides are idle, if the upstream is silent, and if the session is too long', async () => {
    await channel()
    const { gateway } = rig
    for (const [option, isResponding, code] of [
      ['RealtimeIdleTimeout', false, 1001],
      ['StreamIdleTimeout', true, 1011],
      ['RelayTimeout', false, 1001],
    ] as const) {
      const caller = await rig.caller()
      upstream.onMessage = (connection) => connection.send(response('r1', undefined)[0])
      const session = await openSession(gateway.url, caller.token)
      if (isResponding) {
        session.send({ type: 'response.create' })
        await session.event('response.created')
      }
      const before = String(
        (await gateway.api<{ key: string; value: string }[]>('GET', '/api/option/')).find(({ key }) => key === option)
          ?.value,
      )
      await gateway.setOption(option, '0.1')
      expect((await session.closed).code).toBe(code)
      await gateway.setOption(option, before)
      const { rows } = await chargedUnits(rig, caller)
      expect(rows[0]?.outcome).toBe(isResponding ? 'interrupted' : 'complete')
    }
  })
})

describe('in the middle of a session', () => {
  test('a transcript of the speech by another model is charged once, at that model’s price', async () => {
    await rig.gateway.setOption('ModelRatio', '{"m":1,"m2":1,"m.2":1,"gpt-4o-transcribe":3}')
    await rig.gateway.setOption('CompletionRatio', '{"m":1,"gpt-4o-transcribe":2}')
    await channel()
    const caller = await rig.caller()
    const completed = {
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: 'item_1',
      content_index: 0,
      transcript: 'hello',
      usage: { type: 'tokens', total_tokens: 14, input_tokens: 10, output_tokens: 4 },
    }
    const session = { audio: { input: { transcription: { model: 'gpt-4o-transcribe' } } } }
    upstream.onOpen = (connection) =>
      connection.send({ type: 'session.updated', session }, completed, completed, ...response('r1', textUsage(10, 10)))
    const caller1 = await openSession(rig.gateway.url, caller.token)
    await caller1.event('response.done')
    caller1.socket.close()
    const [row] = await charged(rig, caller, 20 + 10 * 3 + 4 * 6)
    expect(row).toMatchObject({ prompt_tokens: 10, completion_tokens: 10 })
    expect(row?.content).toContain('transcriptions: 1, 54 units')
  })

  test('a response that was requested but has not begun yet is stopped and charged like a running one', async () => {
    await channel()
    const caller = await rig.caller()
    upstream.onMessage = (connection, message) => {
      if (!String(message).includes('response.cancel')) return
      connection.send(...response('r1', textUsage(40, 2), { status: 'cancelled' }))
    }
    const session = await openSession(rig.gateway.url, caller.token)
    session.send({ type: 'response.create' })
    session.socket.close()
    const [row] = await charged(rig, caller, 42)
    expect(row).toMatchObject({ outcome: 'aborted', estimated: 0 })
  })

  test('a path prefix in front of the gateway’s paths is removed', async () => {
    await using gateway = await startTestGateway({ env: { BASE_PATH: '/gate' } })
    await gateway.setOption('ModelRatio', '{"m":1}')
    await gateway.addChannel({ base_url: upstream.url, models: 'm' })
    const session = await openSession(`${gateway.url}/gate`, gateway.token)
    await session.event('session.created')
    session.socket.close()
    await session.closed
  })
})

describe('an upstream that does not complete the handshake:', () => {
  const answers: [string, string, { status: number; code: string | null }][] = [
    [
      'a wrong Sec-WebSocket-Accept header',
      'HTTP/1.1 101 Switching Protocols\r\nsec-websocket-accept: no\r\n\r\n',
      failed,
    ],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', failed],
    ['a closed connection', '', failed],
    ['endless response headers', `HTTP/1.1 101 Yes\r\nx: ${'y'.repeat(200_000)}`, failed],
    ['a page', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\npage', { status: 502, code: 'bad_response_body' }],
    [
      'an error in a chunked body',
      `HTTP/1.1 429 Slow\r\ntransfer-encoding: chunked\r\n\r\n${inChunks('{"error":{"message":"no",', '"code":"limited"', '}}')}`,
      { status: 429, code: 'limited' },
    ],
    [
      'a redirect',
      'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n',
      { status: 502, code: 'bad_response_status_code' },
    ],
    ['silence', 'none', { status: 504, code: 'upstream_timeout' }],
  ]
  for (const [what, answer, wanted] of answers) {
    test(what, async () => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined)
        socket.once('data', () => {
          if (answer === 'none') return
          if (answer === '') socket.destroy()
          else socket.write(answer)
          if (answer.startsWith('SSH')) socket.end()
        })
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      await channel({ base_url: `http://127.0.0.1:${port}`, config: '{"first_byte_timeout":0.5}' })
      const caller = await rig.caller()
      expect(await refused('model=m', caller.token)).toMatchObject(wanted)
      expect((await rig.gateway.balances(caller.userId, caller.tokenId)).used).toBe(0)
      server.close()
    })
  }
})

test('over TLS, the upstream’s certificate must be trusted, and a side that does not read slows down the other side', async () => {
  const certificate = selfSignedCertificate()
  await using secure = await startRealtimeUpstream(certificate)
  await channel({ base_url: secure.url })
  const caller = await rig.caller()
  expect(await refused('model=m', caller.token)).toMatchObject(failed)
  await using gateway = await startChildGateway({ trust: certificate.certificate })
  await gateway.api('PUT', '/api/option/', { key: 'ModelRatio', value: '{"m":1}' })
  const fields = { type: 1, name: 'secure', key: 'k', models: 'm', group: 'default', base_url: secure.url }
  await gateway.api('POST', '/api/channel/', fields)
  const session = await openSession(gateway.url, gateway.token)
  await session.event('session.created')
  const { socket, got } = await secure.connection()
  session.socket.pause()
  for (let n = 0; n < MEGABYTES; n++) socket.send(numbered(n))
  expect(await steady(() => socket.getBufferedAmount())).toBeGreaterThan(STILL_WAITING)
  session.socket.resume()
  for (let n = 0; n < 10; n++) session.send(numbered(n))
  await until(() => session.got.length === MEGABYTES + 1 && got.length === 10, 100_000)
  expect(numbers(session.got.slice(1))).toEqual(Array.from({ length: MEGABYTES }, (_, n) => n))
  expect(numbers(got)).toEqual(Array.from({ length: 10 }, (_, n) => n))
  session.socket.close()
  await until(async () => (await gateway.logs()).length === 1)
}, 120_000)

describe('an upstream that breaks the protocol:', () => {
  /** Sends raw bytes when the session is established, and then nothing more. */
  async function rawUpstream(bytes: Uint8Array) {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (request) => {
        const key = /sec-websocket-key: (\S+)/i.exec(String(request))?.[1] ?? ''
        const accept = new Bun.CryptoHasher('sha1')
          .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
          .digest('base64')
        socket.write(`HTTP/1.1 101 Yes\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`)
        socket.write(bytes)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }

  for (const [what, bytes] of [
    ['a masked frame', [0x81, 0x81, 1, 2, 3, 4, 5]],
    ['a close code that does not exist', [0x88, 2, 0x13, 0x88]],
    ['text that is not valid UTF-8', [0x81, 2, 0xc3, 0x28]],
  ] as const) {
    test(what, async () => {
      const { server, url } = await rawUpstream(new Uint8Array(bytes))
      await channel({ base_url: url })
      const caller = await rig.caller()
      const session = await openSession(rig.gateway.url, caller.token)
      expect(await session.event('error')).toMatchObject({ error: { code: 'bad_response_body' } })
      expect(await session.closed).toEqual({ code: 1011, reason: 'bad_response_body' })
      expect((await charged(rig, caller, 0))[0]?.outcome).toBe('interrupted')
      server.close()
    })
  }

  test('an upstream that does not answer pings is disconnected', async () => {
    const { server, url } = await rawUpstream(new Uint8Array())
    let aheadMs = 0
    await using gateway = await startTestGateway({ clock: { nowMs: () => Date.now() + aheadMs } })
    await gateway.setOption('ModelRatio', '{"m":1}')
    await gateway.addChannel({ base_url: url, models: 'm' })
    const session = await openSession(gateway.url, gateway.token)
    const moving = setInterval(() => {
      aheadMs += 5_000
    }, 50)
    expect(await session.event('error')).toMatchObject({ error: { code: 'upstream_timeout' } })
    clearInterval(moving)
    expect(aheadMs).toBeGreaterThanOrEqual(60_000)
    expect((await session.closed).code).toBe(1011)
    server.close()
  })
})

test('a caller who disconnects during the handshake ends it, and is charged nothing', async () => {
  const arrived = Promise.withResolvers<{ gone: Promise<void> }>()
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.once('data', () => arrived.resolve({ gone }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await channel({ base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const caller = await rig.caller()
  const socket = connect(Number(new URL(rig.gateway.url).port), '127.0.0.1')
  socket.write(
    `GET /v1/realtime?model=m HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${caller.token}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  )
  const { gone } = await arrived.promise
  socket.destroy()
  await gone
  expect((await charged(rig, caller, 0)).length).toBe(0)
  server.close()
})

describe('the end of the process', () => {
  let installation: Installation

  beforeAll(() => {
    installation = new Installation()
  })
  afterAll(() => installation[Symbol.asyncDispose]())

  async function start() {
    const gateway = await installation.start()
    await gateway.api('PUT', '/api/option/', { key: 'ModelRatio', value: '{"m":1}' })
    await gateway.api('PUT', '/api/option/', { key: 'CompletionRatio', value: '{"m":1}' })
    await gateway.api('DELETE', '/api/channel/1').catch(() => undefined)
    const channel = { type: 1, name: 'up', key: 'k', models: 'm', group: 'default', base_url: upstream.url }
    await gateway.api('POST', '/api/channel/', channel)
    const name = `t${Math.floor(Math.random() * 1e9)}`
    const made = await gateway.api<string | { key: string }>('POST', '/api/token/', { name, unlimited_quota: true })
    const key = typeof made === 'string' ? made : made.key
    const logs = async () =>
      (await gateway.api<LogRow[]>('GET', '/api/log/?type=2')).filter((row) => row.token_name === name)
    return { gateway, token: key.startsWith('sk-') ? key : `sk-${key}`, logs, name }
  }

  test('SIGTERM ends an idle session immediately, and a session with a running response after that response; both are charged', async () => {
    const { gateway, token, name } = await start()
    upstream.onMessage = (connection, message) => {
      if (String(message).includes('response.create')) connection.send(response('r1', textUsage(10, 5))[0])
    }
    const resting = await openSession(gateway.url, token)
    const speaking = await openSession(gateway.url, token)
    await resting.event('session.created')
    speaking.send({ type: 'response.create' })
    await speaking.event('response.created')
    const exit = gateway.stop()
    expect(await resting.closed).toEqual({ code: 1001, reason: 'shutting_down' })
    const connection = upstream.connections.find(({ got }) => got.length > 0)
    connection?.send(response('r1', textUsage(10, 5)).at(-1))
    await speaking.event('response.done')
    expect(await speaking.closed).toEqual({ code: 1001, reason: 'shutting_down' })
    expect(await exit).toBe(0)
    const next = await installation.start()
    const rows = (await next.api<LogRow[]>('GET', '/api/log/?type=2')).filter((row) => row.token_name === name)
    expect(rows.map(({ quota, outcome }) => [quota, outcome]).sort()).toEqual([
      [0, 'complete'],
      [15, 'complete'],
    ])
    await next.kill()
  }, 120_000)

  test('after kill -9, every response that was received completely is charged once', async () => {
    const { gateway, token, name } = await start()
    upstream.onMessage = (connection) => connection.send(...response('r1', textUsage(100, 50)))
    const session = await openSession(gateway.url, token)
    session.send({ type: 'response.create' })
    await session.event('response.done')
    await gateway.kill()
    expect((await session.closed).code).toBe(1006)
    const next = await installation.start()
    const found = async () =>
      (await next.api<LogRow[]>('GET', '/api/log/?type=2')).filter(
        (row) => row.token_name === name || row.outcome === 'interrupted',
      )
    await until(async () => (await found()).length > 0, 100_000)
    expect((await found()).map(({ quota, outcome }) => [quota, outcome])).toEqual([[150, 'interrupted']])
    await next.kill()
  }, 120_000)
})

describe('a side that is slow or sends too much', () => {
  test('if a caller does not read, the upstream has to wait, and nothing is lost', async () => {
    await channel()
    const caller = await rig.caller()
    const session = await openSession(rig.gateway.url, caller.token)
    await session.event('session.created')
    expect(session.socket.pause()).toBe(true)
    const { socket } = await upstream.connection()
    for (let n = 0; n < MEGABYTES; n++) socket.send(numbered(n))
    expect(await steady(() => socket.getBufferedAmount())).toBeGreaterThan(STILL_WAITING)
    session.socket.resume()
    await until(() => session.got.length === MEGABYTES + 1, 100_000)
    expect(numbers(session.got.slice(1))).toEqual(Array.from({ length: MEGABYTES }, (_, n) => n))
    session.socket.close()
    await charged(rig, caller, 0)
  }, 120_000)

  test('if an upstream does not read, the caller has to wait, and nothing is lost', async () => {
    await channel()
    const caller = await rig.caller()
    const session = await openSession(rig.gateway.url, caller.token)
    const connection = await upstream.connection()
    connection.socket.pause()
    for (let n = 0; n < MEGABYTES; n++) session.send(numbered(n))
    expect(await steady(() => session.socket.bufferedAmount)).toBeGreaterThan(STILL_WAITING)
    connection.socket.resume()
    await until(() => connection.got.length === MEGABYTES, 100_000)
    expect(numbers(connection.got)).toEqual(Array.from({ length: MEGABYTES }, (_, n) => n))
    session.socket.close()
    await charged(rig, caller, 0)
  }, 120_000)

  test('an upstream that never reads is disconnected after the time limit in the options', async () => {
    await channel()
    await rig.gateway.setOption('StreamIdleTimeout', '0.3')
    const caller = await rig.caller()
    const session = await openSession(rig.gateway.url, caller.token)
    const connection = await upstream.connection()
    connection.socket.pause()
    for (let n = 0; n < MEGABYTES; n++) session.send(numbered(n))
    expect(await session.event('error')).toMatchObject({ error: { code: 'upstream_timeout' } })
    expect((await session.closed).code).toBe(1013)
    await rig.gateway.setOption('StreamIdleTimeout', '60')
    expect((await charged(rig, caller, 0))[0]?.outcome).toBe('interrupted')
    connection.socket.terminate()
  })

  test('a caller who never reads is disconnected after the time limit in the options', async () => {
    await channel()
    await rig.gateway.setOption('CallerIdleTimeout', '0.2')
    const caller = await rig.caller()
    const session = await openSession(rig.gateway.url, caller.token)
    await session.event('session.created')
    session.socket.pause()
    const connection = await upstream.connection()
    for (let n = 0; n < MEGABYTES; n++) connection.socket.send(numbered(n))
    await connection.closed
    const [row] = await charged(rig, caller, 0)
    expect(row?.outcome).toBe('aborted')
    await rig.gateway.setOption('CallerIdleTimeout', '120')
    session.socket.terminate()
  })

  test('a message that is too long ends the session with 1009', async () => {
    await channel()
    const huge = 'x'.repeat(17 * 1024 * 1024)
    const first = await rig.caller()
    upstream.onMessage = (connection) => connection.socket.send(huge)
    const toCaller = await openSession(rig.gateway.url, first.token)
    toCaller.send('{}')
    expect(await toCaller.event('error')).toMatchObject({ error: { code: 'bad_response_body' } })
    expect((await toCaller.closed).code).toBe(1009)
    expect((await chargedUnits(rig, first)).rows[0]?.outcome).toBe('interrupted')
    const second = await rig.caller()
    const toUpstream = await openSession(rig.gateway.url, second.token)
    toUpstream.send(huge)
    expect((await toUpstream.closed).code).toBe(1009)
    await charged(rig, second, 0)
  })
})

/** A body with chunked encoding (RFC 9112, section 7.1). */
function inChunks(...parts: string[]): string {
  return [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')
}

/**
 * The number of one-megabyte messages to send: more than the kernel buffers. Linux grows the buffers of a connection up
 * to 4 MB for sending and 32 MB for receiving, and there are two connections.
 */
const MEGABYTES = 150

/** The number of bytes that must still be waiting at the sender when the kernel's buffers are full. */
const STILL_WAITING = 60_000_000

/** A message of one megabyte that contains a number. */
const numbered = (n: number) => `{"n":${n},"pad":"${'x'.repeat(1_000_000)}"}`

/** The numbers in the messages, in order of arrival. */
const numbers = (messages: readonly unknown[]) =>
  messages.map((message) => (JSON.parse(String(message)) as { n: number }).n)

/** Waits until `read` returns the same value several times, and returns that value. */
async function steady(read: () => number): Promise<number> {
  for (let last = -1, same = 0; ; ) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    const now = read()
    same = now === last ? same + 1 : 0
    last = now
    if (same >= 8) return now
  }
}
