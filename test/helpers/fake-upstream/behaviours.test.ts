import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../fake-upstream.ts'

const state: { upstream: fake.FakeUpstream; tls: fake.FakeUpstream } = {} as never

beforeAll(async () => {
  state.upstream = await fake.startFakeUpstream()
  state.tls = await fake.startFakeUpstream({ tls: true })
})

afterAll(async () => {
  await state.upstream.close()
  await state.tls.close()
})

/** What a caller receives: the body, or the word `failed`. */
async function seen(behaviour: fake.Behaviour, init: BunFetchRequestInit = {}): Promise<string> {
  const upstream = init.protocol ? state.tls : state.upstream
  upstream.next(behaviour)
  const tls = upstream.certificate ? { tls: { ca: upstream.certificate } } : {}
  const body = JSON.stringify({ model: 'm', stream: true })
  try {
    const response = await fetch(`${upstream.url}/v1/chat/completions`, { method: 'POST', body, ...tls, ...init })
    return `${response.status} ${await response.text()}`
  } catch {
    return 'failed'
  }
}

describe('what a caller sees', () => {
  const table: readonly (readonly [fake.Behaviour, RegExp])[] = [
    [fake.answerByPath(), /^200 data: [\s\S]*\[DONE\]\n\n$/],
    [fake.outOfQuota(), /^429 .*insufficient_quota/],
    [fake.status(503, { shape: 'html' }), /^503 <!DOCTYPE/],
    [fake.status(500, { shape: 'text' }), /^500 upstream connect error/],
    [fake.status(500, { shape: 'empty' }), /^500 $/],
    [fake.status(400, { shape: 'broken' }), /^400 \{"error":\{"message":"cut of$/],
    [fake.html200(), /^200 <!DOCTYPE/],
    [fake.jsonError200(), /^200 \{"error"/],
    [fake.brokenJson200(), /^200 .*\{"index":0,$/],
    [fake.empty200(), /^200 $/],
    [fake.hugePlain(100_000), /x{100000}/],
    [fake.plainToStream(), /^200 \{"id"/],
    [fake.runningUsage(), /("completion_tokens":[012345][\s\S]*){7}\[DONE\]/],
    [fake.cutsInsideEvent('end'), /"content":"hal$/],
    [fake.cutsInsideEvent('fin'), /^failed$/],
    [fake.cutsInsideEvent('reset'), /^failed$/],
    [fake.untilClose(fake.okStream()), /\[DONE\]\n\n$/],
    [fake.withHeaders([['x-extra', '1']], fake.okChat()), /^200 /],
    [fake.okImages(), /^200 .*url/],
  ]
  for (const [behaviour, expected] of table) {
    test(behaviour.name, async () => {
      expect(await seen(behaviour)).toMatch(expected)
    })
  }

  test('a redirect is sent with its status', async () => {
    const target = `${state.upstream.url}/elsewhere`
    expect(await seen(fake.redirects(target), { redirect: 'manual' })).toBe('302 ')
  })

  test('a response with two content lengths or with giant headers does not hang: the caller reads it or reports an error', async () => {
    for (const behaviour of [fake.twoLengths(), fake.withGiantHeaders(fake.okChat(), 8_192)]) {
      expect(await seen(behaviour)).toMatch(/^(200|failed)/)
    }
  })

  test('a response that never comes ends when the caller disconnects', async () => {
    for (const behaviour of [
      fake.neverAnswers(),
      fake.neverReadsBody(),
      fake.stallsBeforeFirstEvent(),
      fake.stallsStream(),
    ]) {
      const before = state.upstream.requests.length
      const leave = new AbortController()
      const answer = seen(behaviour, { signal: leave.signal })
      await state.upstream.until(({ requests }) => requests.length > before)
      leave.abort()
      expect(await answer).toBe('failed')
      await state.upstream.until(({ openStreams }) => openStreams === 0)
      const request: fake.RecordedRequest = state.upstream.last
      expect([request.behaviour, request.aborted]).toEqual([behaviour.name, true])
    }
  })

  test('a connection that closes after a good response is not reused', async () => {
    for (const how of ['fin', 'reset'] as const) {
      const before = state.upstream.connections
      expect(await seen(fake.thenCloses(how, fake.okChat()))).toStartWith('200')
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(await seen(fake.okChat())).toStartWith('200')
      expect(state.upstream.connections).toBeGreaterThan(before)
    }
  })

  test('broken HTTP/2 frames make the call fail, and an image can be sent as base64', async () => {
    const h2 = { protocol: 'http2' } as const
    expect(await seen(fake.resetsStream(fake.H2_ERROR.cancel), h2)).toBe('failed')
    expect(await seen(fake.breaksHttp2(), { ...h2, signal: AbortSignal.timeout(500) })).toBe('failed')
    expect(await seen(fake.okStream(), h2)).toEndWith('[DONE]\n\n')
    const body = JSON.stringify({ response_format: 'b64_json' })
    expect(await seen(fake.okImages(), { body })).toContain(fake.PNG_BASE64)
  })

  test('a custom behaviour can send any response', async () => {
    const teapot = fake.behaviour('teapot', async (exchange: fake.Exchange) => {
      exchange.head(418, [['content-type', 'text/plain']], { length: 3 })
      await exchange.write('tea')
      exchange.end()
    })
    expect(await seen(teapot)).toBe('418 tea')
  })
})
