import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { type ChildGateway, startChildGateway } from './child-gateway.ts'
import { chat, chatStream, eventsOf, expectError, expectErrorEvent, type Seen, see, textOf, until } from './setup.ts'

// The gateway runs in a separate process, because the certificate that it should trust must be set when it starts.
let upstream: fake.FakeUpstream
let gateway: ChildGateway

beforeAll(async () => {
  upstream = await fake.startFakeUpstream({ tls: true })
  gateway = await startChildGateway({ trust: upstream.certificate })
  await gateway.api('PUT', '/api/option/', { key: 'ModelRatio', value: '{"m":1,"m1":1,"m2":1}' })
  await gateway.api('PUT', '/api/option/', { key: 'CompletionRatio', value: '{"m":1,"m1":1,"m2":1}' })
  const channel = { type: 1, key: 'upstream-key', base_url: upstream.url, group: 'default' }
  await gateway.api('POST', '/api/channel/', { ...channel, name: 'auto', models: 'm' })
  await gateway.api('POST', '/api/channel/', {
    ...channel,
    name: 'one',
    models: 'm1',
    config: '{"http_version":"1.1"}',
  })
  await gateway.api('POST', '/api/channel/', { ...channel, name: 'two', models: 'm2', config: '{"http_version":"2"}' })
})
afterEach(() => upstream.clear())
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream.close()
})

const plain = { ...chat, model: 'm2' }
const streamed = { ...chatStream, model: 'm2' }

let last = 0

/** Makes a call with a unique body, so that the upstream can detect a call that arrives twice. */
function call(body: object = chat, init: RequestInit = {}): Promise<Seen> {
  return see(gateway.post('/v1/chat/completions', { ...body, user: `caller-${++last}` }, init))
}

/** Makes a call with a unique body, and calls `heard` when the first word has arrived. */
async function seeWord(body: object, heard: () => void): Promise<Seen> {
  const response = await gateway.post('/v1/chat/completions', { ...body, user: `caller-${++last}` })
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    const before = text.includes('word')
    text += decoder.decode(bytes, { stream: true })
    if (!before && text.includes('word')) heard()
  }
  return see(new Response(text, response))
}

describe('HTTP/2 to the upstream', () => {
  test('is used if the upstream offers it, and sends many calls over one connection', async () => {
    await call()
    const before = upstream.connections
    const seen = await Promise.all(Array.from({ length: 50 }, (_, index) => call(index % 2 ? chat : chatStream)))
    expect(seen.map(({ status }) => status)).toEqual(Array(50).fill(200))
    for (const { text } of seen.filter((_, index) => index % 2 === 0)) expect(eventsOf(text).at(-1)).toBe('[DONE]')
    expect(new Set(upstream.requests.map(({ protocol }) => protocol))).toEqual(new Set(['h2']))
    expect(upstream.connections).toBe(before)
    expect(upstream.mostArrivals).toBe(1)
  })

  test('can be forced or forbidden for a channel', async () => {
    await call({ ...chat, model: 'm1' })
    expect(upstream.last.protocol).toBe('http/1.1')
    await call({ ...chat, model: 'm2' })
    expect(upstream.last.protocol).toBe('h2')
  })

  test('is replaced by HTTP/1.1 if the upstream does not offer it', async () => {
    const old = await fake.startFakeUpstream({ tls: true, protocols: ['http/1.1'] })
    await using other = await startChildGateway({ trust: old.certificate })
    await other.api('PUT', '/api/option/', { key: 'UnpricedModelPolicy', value: 'fallback' })
    await other.api('POST', '/api/channel/', {
      type: 1,
      key: 'k',
      base_url: old.url,
      group: 'default',
      name: 'old',
      models: 'm',
    })
    const seen = await see(other.post('/v1/chat/completions', chatStream))
    expect(eventsOf(seen.text).at(-1)).toBe('[DONE]')
    expect(old.last.protocol).toBe('http/1.1')
    await old.close()
  })

  test('no request is sent to an upstream with an untrusted certificate', async () => {
    const stranger = await fake.startFakeUpstream({ tls: true })
    await gateway.api('POST', '/api/channel/', {
      type: 1,
      key: 'k',
      base_url: stranger.url,
      group: 'default',
      name: 'x',
      models: 'm9',
    })
    await gateway.api('PUT', '/api/option/', { key: 'UnpricedModelPolicy', value: 'fallback' })
    expectError(await call({ ...chat, model: 'm9' }), 502, 'do_request_failed')
    expect(stranger.requests).toEqual([])
    await stranger.close()
  })
})

describe('an HTTP/2 upstream that fails', () => {
  const failures: readonly fake.Behaviour[] = [
    fake.resetsStream(fake.H2_ERROR.internal),
    fake.resetsStream(fake.H2_ERROR.cancel),
    { ...fake.goesAway({ worked: true }), name: 'GOAWAY, call processed' },
    {
      ...fake.goesAway({ worked: true, code: fake.H2_ERROR.internal }),
      name: 'GOAWAY with an error, call processed',
    },
    fake.resetsBeforeHeaders(),
    fake.closesWithoutAnswer(),
  ]
  for (const each of failures) {
    test(`${each.name}: the caller gets 502, the call is sent once, and the next call succeeds`, async () => {
      await call(plain)
      upstream.next(each)
      expectError(await call(plain), 502, 'do_request_failed')
      expect((await call(plain)).status).toBe(200)
      expect(upstream.mostArrivals).toBe(1)
      expect(upstream.requests).toHaveLength(3)
    })
  }

  const untouched: readonly fake.Behaviour[] = [
    { ...fake.resetsStream(7), name: 'REFUSED_STREAM' },
    { ...fake.goesAway(), name: 'GOAWAY, call not processed' },
  ]
  for (const each of untouched) {
    test(`${each.name}: the call may be sent a second time because the upstream did not process it, but never a third time`, async () => {
      await call(plain)
      upstream.next(each)
      const seen = await call(plain)
      if (seen.status !== 200) expectError(seen, 502, 'do_request_failed')
      expect(upstream.mostArrivals).toBeLessThanOrEqual(2)
      expect((await call(plain)).status).toBe(200)
    })
  }

  test('GOAWAY lets the calls in progress finish', async () => {
    upstream.next(fake.late(100, fake.okStream({ chunks: 20, delayMs: 20 })), fake.goesAway({ finish: true }))
    const [slow, leaving] = await Promise.all([call(streamed), call(streamed)])
    for (const seen of [slow, leaving]) expect(eventsOf(seen?.text ?? '').at(-1)).toBe('[DONE]')
    expect((await call(plain)).status).toBe(200)
    expect(upstream.mostArrivals).toBe(1)
  })

  test('if a connection was closed while idle, no call fails', async () => {
    for (const how of ['fin', 'reset'] as const) {
      expect((await call(plain)).status).toBe(200)
      upstream.dropConnections(how)
      await until(() => upstream.openConnections === 0)
      expect((await call(plain)).status).toBe(200)
    }
    expect(upstream.mostArrivals).toBe(1)
  })

  for (const how of ['fin', 'reset', 'goaway'] as const) {
    test(`if a connection with 100 streams breaks (${how}), each caller gets an error and pays for what was delivered`, async () => {
      const before = (await gateway.api<{ quota: number }>('GET', '/api/log/stat?type=2')).quota
      const heard = Promise.withResolvers<void>()
      let waiting = 100
      const word = () => {
        if (--waiting === 0) heard.resolve()
      }
      upstream.always(fake.diesWithStreamsOpen(100, how, { when: heard.promise }))
      const seen = await Promise.all(Array.from({ length: 100 }, () => seeWord(streamed, word)))
      for (const each of seen) {
        expectErrorEvent(each, 'upstream_stream_error')
        expect(textOf(each.text.slice(0, each.text.indexOf('data: {"error"')))).toBe('word')
      }
      expect(new Set(upstream.requests.map(({ connection }) => connection)).size).toBe(1)
      expect(upstream.mostArrivals).toBe(1)
      // Each of the 100 calls costs the prompt of 8 tokens, and one word.
      const after = (await gateway.api<{ quota: number }>('GET', '/api/log/stat?type=2')).quota
      expect(after - before).toBe(900)
      upstream.always(fake.ok())
      expect((await call(plain)).status).toBe(200)
    }, 120_000)
  }

  test('a stream that is reset in the middle does not affect other streams', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    upstream.next(
      fake.okStream({ chunks: 10, delayMs: 30 }),
      fake.cutsStream('stream-reset', { after: 3, when: begun }),
    )
    const [good, cut] = await Promise.all([
      call(streamed),
      until(() => upstream.requests.length === 1).then(() => seeWord(streamed, begin)),
    ])
    expect(eventsOf(good.text).at(-1)).toBe('[DONE]')
    expectErrorEvent(cut, 'upstream_stream_error')
  })
})

describe('a caller of an HTTP/2 upstream', () => {
  test('who disconnects ends only their own stream', async () => {
    upstream.next(fake.okStream({ chunks: 20, delayMs: 20 }), fake.stallsStream({ after: 2 }))
    const good = call(streamed)
    await until(() => upstream.requests.length === 1)
    const leave = new AbortController()
    const response = await gateway.post(
      '/v1/chat/completions',
      { ...streamed, user: 'leaving' },
      { signal: leave.signal },
    )
    await response.body?.getReader().read()
    leave.abort()
    await until(() => upstream.requests[1]?.aborted === true)
    expect(eventsOf((await good).text).at(-1)).toBe('[DONE]')
    expect(upstream.openConnections).toBeGreaterThan(0)
    await until(async () => (await gateway.logs())[0]?.outcome !== 'interrupted')
    expect(
      (await gateway.logs())
        .slice(0, 2)
        .map(({ outcome }) => outcome)
        .sort(),
    ).toEqual(['aborted', 'complete'])
  })

  test('who reads slowly slows down only their own stream, not the others on the connection', async () => {
    // Earlier tests may have left more than one connection, and the next call may use any of them.
    upstream.dropConnections('fin')
    await until(() => upstream.openConnections === 0)
    const state = { written: 0 }
    const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'word '.repeat(2000) } }] })}\n\n`
    upstream.next(
      fake.behaviour('source', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        while (await exchange.write(event)) {
          state.written += event.length
          await new Promise((resolve) => setImmediate(resolve))
        }
      }),
    )
    const leave = new AbortController()
    const response = await gateway.post('/v1/chat/completions', { ...streamed, user: 'slow' }, { signal: leave.signal })
    expect(response.status).toBe(200)
    const reader = response.body?.getReader()
    await reader?.read()
    let before = -1
    while (state.written !== before) {
      expect(state.written).toBeLessThan(64 * 1024 * 1024)
      before = state.written
      await new Promise((resolve) => setTimeout(resolve, 400))
    }
    const seen = await call(streamed)
    expect(eventsOf(seen.text).at(-1)).toBe('[DONE]')
    expect(upstream.requests[1]?.connection).toBe(upstream.requests[0]?.connection ?? 0)
    leave.abort()
    await until(() => upstream.openStreams === 0)
  }, 120_000)
})
