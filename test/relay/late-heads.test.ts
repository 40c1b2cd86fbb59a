// The caller of a stream gets headers and keep-alives even before the upstream has sent its headers. If the call then
// fails, the error is sent as an event.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chargedUnits, chat, chatStream, promptTokens, type Rig, see, startRelayRig, until } from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ channels: false })
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.clear({ KeepAliveInterval: '0.3', RetryTimes: '0', AutomaticDisableChannelEnabled: 'false' }))

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const gemini = '/v1beta/models/m:streamGenerateContent'
const calls = {
  chat: { path: '/v1/chat/completions', body: chatStream, type: 1 },
  responses: { path: '/v1/responses', body: { model: 'm', input: 'Hi', stream: true }, type: 1 },
  messages: { path: '/v1/messages', body: { ...chatStream, max_tokens: 10 }, type: 14 },
  gemini: { path: `${gemini}?alt=sse`, body: { contents }, type: 24 },
} as const
const callers = Object.keys(calls) as (keyof typeof calls)[]
/** This channel type supports only chat, whatever the caller's dialect. */
const mistral = 28

const busy = 'Too many are here.'
/** A refusal with status 503, as indented JSON, which some services send. */
const refusal = (body: unknown) =>
  fake.behaviour('refuses', async (exchange) => {
    exchange.head(503, [['content-type', 'application/json']])
    await exchange.write(JSON.stringify(body, undefined, 2))
    exchange.end()
  })
/** Refusals from services that have their own error format. */
const refusals: Partial<Record<number, fake.Behaviour>> = {
  14: refusal({ type: 'error', error: { type: 'overloaded_error', message: busy } }),
  24: refusal([{ error: { code: 503, message: busy, status: 'UNAVAILABLE' } }]),
}

/** An upstream that does not respond until `go` is called. */
function held(inner: fake.Behaviour) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const behaviour = fake.behaviour(`held ${inner.name}`, async (exchange) => {
    await Promise.race([promise, new Promise((resolve) => exchange.callerLeft.addEventListener('abort', resolve))])
    if (!exchange.callerLeft.aborted) await inner.run(exchange)
  })
  return { behaviour, go: resolve }
}

/** Makes a call that receives its headers and a first keep-alive before the upstream sends anything. */
async function waiting(caller: keyof typeof calls | 'array', inner: fake.Behaviour) {
  const account = await rig.caller()
  const { behaviour, go } = held(inner)
  rig.upstream.next(behaviour)
  const { path, body } = caller === 'array' ? { path: gemini, body: { contents } } : calls[caller]
  const leave = new AbortController()
  const answer = await rig.gateway.post(path, body, account.token, { signal: leave.signal })
  return { account, answer, go, leave }
}

describe.each(callers)('a stream of %s', (caller) => {
  test('gets a keep-alive before its upstream’s headers, and then its complete answer', async () => {
    await rig.channel({ type: mistral })
    const { account, answer, go } = await waiting(caller, fake.okStream({ text: 'Hello there' }))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(answer.headers.get('x-oneapi-request-id')).toMatch(/^\d{20,}$/)
    go()
    const seen = await see(answer)
    expect(seen.text).toStartWith(signOfLife(caller))
    expect(seen.text).toContain('there')
    expect([seen.broken, seen.error]).toEqual([false, undefined])
    const { rows } = await chargedUnits(rig, account)
    expect(rows).toMatchObject([{ outcome: 'complete', is_stream: 1 }])
  })

  test('that fails after the keep-alive ends with an error event in its dialect, costs nothing and leaves a log row', async () => {
    for (const type of new Set([mistral, calls[caller].type])) {
      await rig.clear()
      await rig.channel({ type })
      const { account, answer, go } = await waiting(caller, refusals[type] ?? fake.status(503, { message: busy }))
      expect(answer.status).toBe(200)
      go()
      const seen = await see(answer)
      expect(seen.broken).toBe(false)
      expect(failureOf(caller, seen.text)).toContain(busy)
      expect(await charged(rig, account, 0)).toEqual([])
      expect(await failedRows(answer)).toMatchObject([
        { status: 503, code: 'bad_response_status_code', is_stream: true },
      ])
    }
  })

  test('continues on the next channel if the first channel fails after the keep-alive', async () => {
    await rig.clear({ RetryTimes: '1' })
    await rig.channel({ type: mistral, key: 'key-a', priority: 1 })
    await rig.channel({ type: mistral, key: 'key-b' })
    const { behaviour, go } = held(fake.status(503))
    rig.upstream.forKey('key-a', behaviour)
    rig.upstream.forKey('key-b', fake.okStream({ text: 'Hello there' }))
    const account = await rig.caller()
    const answer = await rig.gateway.post(calls[caller].path, calls[caller].body, account.token)
    go()
    const seen = await see(answer)
    expect(seen.text).toStartWith(signOfLife(caller))
    expect([seen.text.includes('there'), seen.error]).toEqual([true, undefined])
    const { rows } = await chargedUnits(rig, account)
    expect(rows).toMatchObject([{ outcome: 'complete' }])
    expect(rows[0]?.attempts).toContain('503')
  })
})

/** Some of Google's libraries cannot parse comments, but all of them ignore blank lines. */
const signOfLife = (caller: keyof typeof calls) => (caller === 'gemini' ? '\n\n' : ': keep-alive\n\n')

/** The log rows of a failed call, as soon as they are written. */
async function failedRows(answer: Response): Promise<object[]> {
  const id = answer.headers.get('x-oneapi-request-id') ?? ''
  let rows: object[] = []
  await until(async () => {
    rows = await rig.gateway.api<object[]>('GET', `/api/log/search?keyword=${id}`)
    return rows.length > 0
  })
  return rows
}

/**
 * The error message in a stream's last event. The event must have the form in which clients of the dialect recognise a
 * failure.
 */
function failureOf(caller: keyof typeof calls, text: string): string {
  const blocks = text.trim().split('\n\n')
  // Google's libraries expect the error as JSON without `data:`, and other clients expect it as an event.
  if (caller === 'gemini') expect(`data: ${blocks.pop()}`).toBe(blocks.at(-1) ?? '')
  const block = blocks.at(-1) ?? ''
  const data = JSON.parse(block.slice(block.indexOf('data: ') + 6)) as {
    type?: string
    error?: { message: string; status?: string }
    response?: { status: string; error: { message: string } }
  }
  switch (caller) {
    case 'chat':
      expect(block).toStartWith('data: {"error":{')
      return data.error?.message ?? ''
    case 'responses':
      expect(text).toContain('event: error\n')
      expect(block).toStartWith('event: response.failed\n')
      expect(data.response?.status).toBe('failed')
      return data.response?.error.message ?? ''
    case 'messages':
      expect(block).toStartWith('event: error\n')
      return data.error?.message ?? ''
    default:
      expect(block).toStartWith('data: {')
      expect(data.error?.status).toBe('UNAVAILABLE')
      return data.error?.message ?? ''
  }
}

test('a Gemini answer in the form of an array begins with white space', async () => {
  await rig.channel({ type: mistral })
  const good = await waiting('array', fake.okStream({ text: 'Hello there' }))
  good.go()
  const whole = await see(good.answer)
  expect(whole.text).toStartWith('\n')
  expect(JSON.stringify(JSON.parse(whole.text))).toContain('there')
  const bad = await waiting('array', fake.status(503, { message: busy }))
  bad.go()
  expect(JSON.parse((await see(bad.answer)).text)).toMatchObject([{ error: { code: 503 } }])
})

test('if an upstream does not respond before the time limit, the caller gets an error event', async () => {
  await rig.channel({ config: '{"first_byte_timeout":1}' })
  const { account, answer } = await waiting('chat', fake.neverAnswers())
  const seen = await see(answer)
  expect(seen.error).toMatchObject({ code: 'upstream_timeout' })
  expect(await charged(rig, account, 0)).toEqual([])
  expect(await failedRows(answer)).toMatchObject([{ outcome: 'failed', code: 'upstream_timeout' }])
})

test('a caller who disconnects before anything has arrived ends the upstream call and pays for the prompt', async () => {
  await rig.channel()
  const { account, answer, leave } = await waiting('chat', fake.neverAnswers())
  expect(answer.status).toBe(200)
  leave.abort()
  await rig.upstream.until(({ last }) => last.aborted)
  await until(async () => (await rig.gateway.logs()).some(({ token_id }) => token_id === account.tokenId))
  expect(await charged(rig, account, promptTokens)).toMatchObject([{ outcome: 'aborted' }])
})

test.each(['chat', 'array'] as const)(
  'a caller who disconnects from a stream of %s in the middle of an answer that began late pays for what has arrived',
  async (caller) => {
    await rig.channel({ type: mistral })
    const { account, answer, go, leave } = await waiting(caller, fake.endlessStream())
    go()
    const decoder = new TextDecoder()
    let text = ''
    try {
      for await (const bytes of answer.body ?? []) {
        text += decoder.decode(bytes, { stream: true })
        if (text.includes('word')) leave.abort()
      }
    } catch {
      // The caller has disconnected, so reading the rest of the response fails.
    }
    await rig.upstream.until(({ last }) => last.aborted)
    const { units, rows } = await chargedUnits(rig, account)
    expect(rows).toMatchObject([{ outcome: 'aborted' }])
    expect(units).toBeGreaterThan(promptTokens)
  },
)

test('the headers that are sent early contain the caller’s limits and the dropped fields', async () => {
  await rig.channel({ type: 14 })
  const account = await rig.caller(undefined, { token: { rpm_limit: 5 } })
  const { behaviour, go } = held(fake.status(503))
  rig.upstream.next(behaviour)
  const body = { ...chatStream, logit_bias: { 1: 2 } }
  const answer = await rig.gateway.post('/v1/chat/completions', body, account.token)
  expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('4')
  expect(answer.headers.get('x-tollgate-dropped')).toBe('logit_bias')
  go()
  await see(answer)
})

test('if there is no keep-alive interval or the answer is not streamed, headers are sent only after the upstream has sent its own', async () => {
  await rig.channel()
  rig.upstream.next(fake.late(900, fake.status(503)))
  expect((await rig.gateway.post('/v1/chat/completions', chat)).status).toBe(503)
  await rig.gateway.setOption('KeepAliveInterval', '0')
  rig.upstream.next(fake.late(900, fake.status(503)))
  expect((await rig.gateway.post('/v1/chat/completions', chatStream)).status).toBe(503)
})
