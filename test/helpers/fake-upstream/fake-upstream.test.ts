import { afterEach, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import * as fake from '../fake-upstream.ts'

const open: fake.FakeUpstream[] = []

async function start(options?: fake.FakeUpstreamOptions): Promise<fake.FakeUpstream> {
  const upstream = await fake.startFakeUpstream(options)
  open.push(upstream)
  return upstream
}

afterEach(async () => {
  for (const upstream of open.splice(0)) await upstream.close()
})

function post(upstream: fake.FakeUpstream, body: unknown = {}, init: BunFetchRequestInit = {}): Promise<Response> {
  const tls = upstream.certificate ? { tls: { ca: upstream.certificate } } : {}
  const headers = { 'content-type': 'application/json', authorization: 'Bearer key-1', ...(init.headers as object) }
  const request = { method: 'POST', body: JSON.stringify(body), ...tls, ...init, headers }
  return fetch(`${upstream.url}/v1/chat/completions`, request)
}

const streamed = { model: 'gpt-4o-mini', stream: true, stream_options: { include_usage: true } }

interface Completion {
  readonly id: string
  readonly usage: { readonly completion_tokens: number }
}

async function json(response: Response): Promise<Completion> {
  return (await response.json()) as Completion
}

async function failure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error)
  }
  throw new Error('it did not fail')
}

describe('good responses', () => {
  test('the official SDK reads chat, streams, tools, embeddings, images, speech and transcriptions', async () => {
    const upstream = await start()
    const client = new OpenAI({ apiKey: 'key-1', baseURL: `${upstream.url}/v1`, maxRetries: 0 })
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const chat = await client.chat.completions.create({ model: 'gpt-4o-mini', messages })
    expect(chat.choices[0]?.message.content).toBe('Hello from the fake upstream.')
    expect(chat.usage?.total_tokens).toBe(15)
    upstream.next(fake.okStream({ chunks: 3, toolCalls: [{ name: 'f', arguments: '{"city":"Zürich"}' }] }))
    const stream = client.chat.completions.stream({
      model: 'gpt-4o-mini',
      messages,
      stream_options: { include_usage: true },
    })
    const final = await stream.finalChatCompletion()
    expect(final.choices[0]?.message.content).toBe('word0 word1 word2')
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { arguments: '{"city":"Zürich"}' } })
    expect(final.usage?.completion_tokens).toBe(3)
    const embedding = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'] })
    expect(embedding.data.map(({ embedding: vector }) => vector.length)).toEqual([8, 8])
    expect((await client.images.generate({ prompt: 'x', n: 2 })).data).toHaveLength(2)
    const edit = await client.images.edit({
      prompt: 'x',
      n: 3,
      image: new File([new Uint8Array([0, 255, 13, 10])], 'a.png'),
    })
    expect(edit.data).toHaveLength(3)
    expect(fake.readMultipart(upstream.last).find(({ name }) => name === 'image')?.bytes).toEqual(
      Buffer.from([0, 255, 13, 10]),
    )
    const speech = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'x' })
    expect(Buffer.from(await speech.arrayBuffer()).equals(fake.speechBytes())).toBe(true)
    const file = new File(['RIFF'], 'a.wav')
    expect((await client.audio.transcriptions.create({ model: 'whisper-1', file })).text).toContain('Hello')
    expect((await client.moderations.create({ input: 'x' })).results).toHaveLength(1)
    expect((await client.models.list()).data).toHaveLength(3)
    expect(upstream.openStreams).toBe(0)
    expect(upstream.mostArrivals).toBe(1)
  })

  test('max_tokens is respected, unless configured otherwise', async () => {
    const upstream = await start()
    upstream.next(fake.okChat(), fake.ignoresMaxTokens(500))
    expect((await json(await post(upstream, { max_tokens: 2 }))).usage.completion_tokens).toBe(2)
    expect((await json(await post(upstream, { max_tokens: 2 }))).usage.completion_tokens).toBe(500)
  })

  test('every way of splitting and writing events delivers the same text', async () => {
    const upstream = await start()
    const styles: fake.SseStyle[] = [
      { cut: 'byte' },
      { cut: 'inside-character' },
      { cut: 7 },
      { cut: 'whole' },
      { lineEnd: '\r\n', comments: true, multiLine: true, named: true },
      { space: false, bom: true },
    ]
    for (const style of styles) {
      upstream.next(fake.okStream({ chunks: ['Grüße ', '你好 ', '🎉'], style }))
      const text = await (await post(upstream, streamed)).text()
      const lines = text.replace('\ufeff', '').split(/\r\n|\n/)
      const content = lines.filter((line) => line.includes('"content": "') || line.includes('"content":"')).join('')
      expect(content).toContain('🎉')
      expect(text).toContain('[DONE]')
    }
  })

  test('bodies can be compressed or trickled, and headers can be late, giant or hop-by-hop', async () => {
    const upstream = await start()
    upstream.next(fake.gzipped(fake.okChat()), fake.gzipped(fake.okStream({ chunks: 5, delayMs: 5 })))
    expect((await json(await post(upstream))).id).toBe('chatcmpl-fake')
    expect(await (await post(upstream, streamed)).text()).toContain('word4')
    upstream.next(
      fake.trickled(fake.okChat(), { bytes: 50 }),
      fake.late(100, fake.okChat()),
      fake.withHopByHop(fake.okChat()),
    )
    expect((await json(await post(upstream))).id).toBe('chatcmpl-fake')
    const before = performance.now()
    expect((await post(upstream)).status).toBe(200)
    expect(performance.now() - before).toBeGreaterThan(95)
    expect((await post(upstream)).headers.getSetCookie()).toHaveLength(2)
  })
})

describe('rules', () => {
  test('are tried in order: by key, by model, from the queue, then the default', async () => {
    const upstream = await start()
    upstream.forKey('key-2', fake.status(401))
    upstream.forModel('bad', fake.status(500), fake.ok())
    upstream.next(fake.status(429, { retryAfter: 3 }))
    const statuses = []
    for (const [key, model] of [
      ['key-2', 'x'],
      ['key-1', 'bad'],
      ['key-1', 'bad'],
      ['key-1', 'x'],
      ['key-1', 'x'],
    ] as const) {
      statuses.push((await post(upstream, { model }, { headers: { authorization: `Bearer ${key}` } })).status)
    }
    expect(statuses).toEqual([401, 500, 200, 429, 200])
    expect(upstream.requests[3]?.behaviour).toBe('status 429')
  })

  test('a caller who disconnects is recorded as aborted', async () => {
    const upstream = await start()
    upstream.always(fake.endlessStream())
    const controller = new AbortController()
    const response = await post(upstream, streamed, { signal: controller.signal })
    await response.body?.getReader().read()
    expect(upstream.openStreams).toBe(1)
    controller.abort()
    await upstream.until((u) => u.openStreams === 0)
    expect(upstream.last.aborted).toBe(true)
    expect(upstream.last.answered).toBe(false)
  })
})

describe('faults over HTTP/1.1', () => {
  test('break the connection, and the caller’s request fails', async () => {
    const upstream = await start()
    for (const fault of [
      fake.resetsBeforeHeaders(),
      fake.closesWithoutAnswer(),
      fake.resetsDuringBody(),
      fake.garbage(),
    ]) {
      upstream.next(fault)
      expect([fault.name, await failure(post(upstream))]).toEqual([fault.name, expect.any(String)])
    }
    for (const fault of [fake.resetsAfterHeaders(), fake.cutsPlain('fin'), fake.cutsPlain('reset')]) {
      upstream.next(fault)
      expect([fault.name, await failure(post(upstream).then((r) => r.text()))]).toEqual([
        fault.name,
        expect.any(String),
      ])
    }
    upstream.next(fake.neverAnswers())
    expect(await failure(post(upstream, {}, { signal: AbortSignal.timeout(50) }))).toBeTruthy()
    await upstream.until((u) => u.openStreams === 0)
    upstream.failConnections('reset')
    expect(await failure(post(upstream))).toBeTruthy()
    expect(await failure(fetch(`http://127.0.0.1:${await fake.closedPort()}/`))).toBe('ECONNREFUSED')
  })

  test('break the stream or its content as configured', async () => {
    const upstream = await start()
    for (const how of ['fin', 'reset', 'stream-reset'] as const) {
      upstream.next(fake.cutsStream(how))
      expect(await failure(post(upstream, streamed).then((r) => r.text()))).toBeTruthy()
    }
    upstream.next(fake.endsEarly(), fake.noDone(), fake.badJsonChunk(), fake.errorEvent({ after: 0 }), fake.hugeEvent())
    expect(await (await post(upstream, streamed)).text()).not.toContain('finish_reason":"stop')
    expect(await (await post(upstream, streamed)).text()).not.toContain('[DONE]')
    expect(await (await post(upstream, streamed)).text()).toContain('"delta":\n')
    expect(await (await post(upstream, streamed)).text()).toStartWith('data: {"error"')
    expect((await (await post(upstream, streamed)).text()).length).toBeGreaterThan(20 * 1024 * 1024)
    upstream.next(fake.stallsStream({ forMs: 100 }))
    expect(await (await post(upstream, streamed)).text()).toContain('[DONE]')
    upstream.next(fake.duplicateUsage(), fake.wrongUsage('negative'), fake.missingUsage())
    expect((await (await post(upstream, streamed)).text()).match(/"usage"/g)).toHaveLength(2)
    expect(await (await post(upstream, streamed)).text()).toContain('-50')
    expect(await (await post(upstream, streamed)).text()).not.toContain('usage')
  })
})

describe('TLS and HTTP/2', () => {
  test('both protocols are served on one port, and 100 streams share one connection', async () => {
    const upstream = await start({ tls: true })
    expect((await json(await post(upstream, {}, { protocol: 'http1.1' }))).id).toBe('chatcmpl-fake')
    expect(upstream.last.protocol).toBe('http/1.1')
    const calls = Array.from({ length: 100 }, (_, n) =>
      post(upstream, { ...streamed, n }, { protocol: 'http2' }).then((r) => r.text()),
    )
    expect((await Promise.all(calls)).every((text) => text.includes('[DONE]'))).toBe(true)
    expect(upstream.last.protocol).toBe('h2')
    expect(upstream.last.headers.get('authorization')).toBe('Bearer key-1')
    expect(upstream.mostArrivals).toBe(1)
  })

  test('the caller receives RST_STREAM and GOAWAY, and notices that a connection is closed', async () => {
    const upstream = await start({ tls: true })
    const h2 = { protocol: 'http2' } as const
    upstream.next(fake.resetsStream())
    expect(await failure(post(upstream, {}, h2))).toBe('HTTP2StreamReset')
    upstream.next(fake.cutsStream('stream-reset'))
    expect(await failure(post(upstream, streamed, h2).then((r) => r.text()))).toBe('HTTP2StreamReset')
    upstream.next(fake.goesAway({ finish: true }))
    expect(await (await post(upstream, streamed, h2)).text()).toContain('[DONE]')
    upstream.next(fake.goesAway({ worked: true }))
    expect(await failure(post(upstream, {}, h2))).toBeTruthy()
    upstream.always(fake.diesWithStreamsOpen(100))
    const calls = Array.from({ length: 100 }, (_, n) =>
      failure(post(upstream, { ...streamed, n }, h2).then((r) => r.text())),
    )
    expect(new Set(await Promise.all(calls)).size).toBeGreaterThan(0)
    await upstream.until((u) => u.openStreams === 0)
  })

  test('a caller who disconnects from an endless stream ends it', async () => {
    const upstream = await start({ tls: true })
    upstream.always(fake.endlessStream(1000))
    const controller = new AbortController()
    const response = await post(upstream, streamed, { protocol: 'http2', signal: controller.signal })
    await response.body?.getReader().read()
    controller.abort()
    await upstream.until((u) => u.openStreams === 0)
  })
})
