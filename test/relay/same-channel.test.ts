// Retries on the same channel, waiting for Retry-After, and time limits of a call, with the default options.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import { charged, chat, chatStream, eventsOf, expectError, type Rig, see, startRelayRig, until } from './setup.ts'

let rig: Rig
/** How far the gateway's clock is ahead of the real time. */
let aheadMs = 0
/** Each test uses its own model, because each model has its own budget of retries. */
let count = 0
let model = ''

beforeAll(async () => {
  rig = await startRelayRig({ channels: false, retries: true, clock: { nowMs: () => Date.now() + aheadMs } })
})
beforeEach(async () => {
  model = `m${++count}`
  await rig.clear({
    ModelRatio: JSON.stringify({ [model]: 1, 'gpt-4o': 1 }),
    CompletionRatio: JSON.stringify({ [model]: 1, 'gpt-4o': 1 }),
    KeepAliveInterval: '15',
    FirstTokenTimeout: '30',
    RelayTimeout: '0',
  })
})
afterAll(() => rig[Symbol.asyncDispose]())

const keys = () => rig.upstream.requests.map((request) => request.key)
const channel = (fields: Parameters<Rig['channel']>[0] = {}) => rig.channel({ models: model, ...fields })

async function call(body: object = chat, headers: Record<string, string> = {}) {
  const caller = await rig.caller()
  const seen = await see(
    rig.gateway.post('/v1/chat/completions', { model, ...withoutModel(body) }, caller.token, { headers }),
  )
  return { caller, seen }
}

function withoutModel({ model: _, ...body }: { model?: string }): object {
  return body
}

/** Makes a call and moves the clock as soon as the upstream has received this many requests. */
async function callAndGo(requests: number, ms: number, body: object = chat) {
  const calling = call(body)
  await rig.upstream.received(requests)
  // Moves the clock while the gateway waits. The gateway is waiting once it has recorded the pause.
  await until(() => rig.gateway.context.relay.relay.rests.count() > 0)
  aheadMs += ms
  return calling
}

const passing: readonly fake.Behaviour[] = [
  ...[408, 500, 502, 503, 504, 529].map((each) => fake.status(each)),
  fake.resetsBeforeHeaders(),
  fake.closesWithoutAnswer(),
]

describe('the same channel is called once more', () => {
  test.each(passing.map((each) => [each.name, each] as const))(
    'after %s, and the answer is charged once',
    async (_, fault) => {
      const id = await channel({ key: 'only' })
      rig.upstream.next(fault)
      const { caller, seen } = await call()
      expect(seen.status).toBe(200)
      expect(keys()).toEqual(['only', 'only'])
      const [row] = await charged(rig, caller, 15)
      expect(JSON.parse(row?.attempts ?? '')).toMatchObject([
        { channelId: id },
        { channelId: id, status: 200, error: '' },
      ])
    },
  )

  test('before another channel is tried, and each other channel is called twice as well', async () => {
    for (const [index, key] of ['a', 'b', 'c', 'd'].entries()) await channel({ key, priority: -index })
    rig.upstream.always(fake.status(503))
    const { caller, seen } = await call()
    expectError(seen, 503, null)
    expect(keys()).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
    await charged(rig, caller, 0)
  })

  test.each([400, 401, 403, 404, 409, 422])('but not after %d', async (status) => {
    await channel({ key: 'only' })
    rig.upstream.always(fake.status(status))
    await call()
    expect(keys()).toEqual(['only'])
  })

  test('but not if the service says that it would not help, or if the option is off', async () => {
    await channel({ key: 'only' })
    rig.upstream.next(fake.status(503, { headers: [['x-should-retry', 'false']] }))
    expect((await call()).seen.status).toBe(503)
    await rig.gateway.setOption('SameChannelRetries', '0')
    rig.upstream.next(fake.status(503))
    expect((await call()).seen.status).toBe(503)
    await rig.gateway.setOption('SameChannelRetries', '1')
    expect(keys()).toEqual(['only', 'only'])
  })

  test('but not if the circuit breaker has opened; another channel is called instead', async () => {
    await channel({ key: 'bad', priority: 1 })
    await channel({ key: 'good' })
    rig.upstream.forKey('bad', fake.status(503))
    for (let index = 0; index < 3; index++) expect((await call()).seen.status).toBe(200)
    expect(keys()).toEqual(['bad', 'bad', 'good', 'bad', 'bad', 'good', 'bad', 'good'])
  })
})

describe('Retry-After', () => {
  test('of a few seconds is waited out on the same channel, even if another one is idle', async () => {
    await channel({ key: 'busy', priority: 1 })
    await channel({ key: 'idle' })
    rig.upstream.forKey('busy', fake.status(429, { retryAfter: 3 }), fake.okChat())
    const { caller, seen } = await callAndGo(1, 3_300)
    expect(seen.status).toBe(200)
    expect(keys()).toEqual(['busy', 'busy'])
    await charged(rig, caller, 15)
  })

  test('of more than a few seconds is waited out only if no other channel is left', async () => {
    await channel({ key: 'busy', priority: 1 })
    const other = await channel({ key: 'idle' })
    rig.upstream.forKey('busy', fake.status(429, { retryAfter: 20 }), fake.okChat())
    expect((await call()).seen.status).toBe(200)
    expect(keys()).toEqual(['busy', 'idle'])
    await rig.gateway.api('DELETE', `/api/channel/${other}`)
    aheadMs += 21_000
    rig.upstream.requests.length = 0
    rig.upstream.forKey('busy', fake.status(429, { retryAfter: 20 }), fake.okChat())
    expect((await callAndGo(1, 20_300)).seen.status).toBe(200)
    expect(keys()).toEqual(['busy', 'busy'])
  })

  test('that is longer than the call may wait is passed on to the caller, and a 429 without Retry-After is passed on, too', async () => {
    await channel({ key: 'busy' })
    for (const [answer, wait] of [
      [fake.status(429, { retryAfter: 60 }), '60'],
      [fake.status(429), null],
    ] as const) {
      rig.upstream.next(answer)
      const { seen } = await call()
      expectError(seen, 429, 'rate_limit_exceeded')
      expect(seen.headers.get('retry-after')).toBe(wait)
    }
    expect(keys()).toEqual(['busy', 'busy'])
  })

  const failedAttempts = async () => {
    const metrics = await fetch(`${rig.gateway.url}/metrics`).then((response) => response.text())
    const counts = metrics.matchAll(/^tollgate_upstream_failures_total\{.*\} (\d+)$/gm)
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
  }

  test('is no longer waited out if the caller disconnects: nothing more is sent, and nothing is charged', async () => {
    await channel({ key: 'busy' })
    rig.upstream.always(fake.status(429, { retryAfter: 20 }))
    const caller = await rig.caller()
    const leave = new AbortController()
    const failed = await failedAttempts()
    const asked = rig.gateway.post('/v1/chat/completions', { ...chat, model }, caller.token, { signal: leave.signal })
    asked.catch(() => undefined)
    // The wait begins when the gateway has read the 429. A caller who leaves before the wait begins pays for the
    // prompt.
    await until(async () => (await failedAttempts()) > failed)
    leave.abort()
    await charged(rig, caller, 0)
    expect(keys()).toEqual(['busy'])
  })

  test('pauses an account: channels with the same URL, key and model share the pause, others do not', async () => {
    await channel({ key: 'account', priority: 3 })
    await channel({ key: 'account', priority: 2 })
    await channel({ key: 'other', priority: 1 })
    await channel({ key: `account\nthird`, key_mode: 'multi' })
    rig.upstream.forKey('account', fake.status(429, { retryAfter: 30 }))
    expect((await call()).seen.status).toBe(200)
    const [first, ...rest] = keys()
    // After the first channel has failed, the channel with the same key is skipped.
    expect([first, rest.at(-1)]).toEqual(['account', 'other'])
    expect(rest).toEqual(['other'])
    rig.upstream.forKey('other', fake.status(429, { retryAfter: 30 }))
    expect((await call()).seen.status).toBe(200)
    expect(keys().slice(2)).toEqual(['other', 'third'])
    aheadMs += 31_000
    rig.upstream.forKey('account', fake.okChat())
    await call()
    expect(keys().at(-1)).toBe('account')
  })
})

describe('the budget of retries', () => {
  test('allows 30 retries of a model in a minute, or a fifth of its calls, and then none', async () => {
    await rig.gateway.setOption('RetryTimes', '1')
    await rig.gateway.setOption('SameChannelRetries', '0')
    await channel({ key: 'a', priority: 1 })
    await channel({ key: 'b' })
    // A 400 is not retried. A 404 is retried and does not affect the circuit breaker.
    rig.upstream.forKey('a', fake.status(404))
    const caller = await rig.caller()
    const post = () => see(rig.gateway.post('/v1/chat/completions', { ...chat, model }, caller.token))
    const statuses: number[] = []
    for (let index = 0; index < 40; index++) statuses.push((await post()).status)
    expect(statuses.filter((each) => each === 200)).toHaveLength(30)
    expect(statuses.slice(30)).toEqual(new Array(10).fill(404))
    // Other models have budgets of their own, and a minute later there is a new budget.
    aheadMs += 70_000
    expect((await post()).status).toBe(200)
    await rig.gateway.setOption('RetryTimes', '2')
    await rig.gateway.setOption('SameChannelRetries', '1')
  })
})

describe('callers who disconnect', () => {
  test('do not count as failures of the channel', async () => {
    await channel({ key: 'slow' })
    rig.upstream.always(fake.neverAnswers())
    const caller = await rig.caller()
    for (let index = 1; index <= 6; index++) {
      const leave = new AbortController()
      const asked = rig.gateway.post('/v1/chat/completions', { ...chat, model }, caller.token, { signal: leave.signal })
      asked.catch(() => undefined)
      await rig.upstream.received(index)
      leave.abort()
    }
    await rig.upstream.until(({ openStreams }) => openStreams === 0)
    const { breaker } = rig.gateway.context.relay.relay
    expect(breaker.snapshot().filter((each) => each.model === model)).toEqual([])
  })
})

/** Sends comments and events without content, but no answer. */
const mute = () =>
  fake.behaviour('mute', async (exchange) => {
    exchange.head(200, fake.streamHeaders())
    await exchange.write('data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n')
    while (await exchange.write(': keep-alive\n\n')) await new Promise((resolve) => setTimeout(resolve, 20))
  })

describe('FirstTokenTimeout', () => {
  test.each([
    ['sends only keep-alives and events without content', mute],
    ['sends no headers', fake.neverAnswers],
  ])('moves the stream of a model without thinking to the next channel if a service %s', async (_, fault) => {
    await channel({ key: 'mute', models: 'gpt-4o', priority: 1 })
    await channel({ key: 'good', models: 'gpt-4o' })
    rig.upstream.forKey('mute', fault())
    const calling = rig.gateway.post('/v1/chat/completions', { ...chatStream, model: 'gpt-4o' })
    await rig.upstream.received(1)
    // The caller gets the response headers and keep-alives while the upstream is silent.
    aheadMs += 15_100
    const answer = await calling
    expect(answer.status).toBe(200)
    aheadMs += 15_100
    const seen = await see(answer)
    expect(seen.text).toStartWith(':')
    expect(eventsOf(seen.text).at(-1)).toBe('[DONE]')
    expect(keys()).toEqual(['mute', 'good'])
  })

  test.each([
    ['an unknown model', {}],
    ['a call that asks for thinking', { model: 'gpt-4o', reasoning_effort: 'low' }],
  ])('does not limit %s', async (_, fields) => {
    await rig.gateway.setOption('StreamIdleTimeout', '300')
    await channel({ key: 'slow', models: `${model},gpt-4o` })
    const release = Promise.withResolvers<void>()
    rig.upstream.always(
      fake.behaviour('thinks', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write(': thinking\n\n')
        await release.promise
        await exchange.write('data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\ndata: [DONE]\n\n')
        exchange.end()
      }),
    )
    const caller = await rig.caller()
    const calling = rig.gateway.post('/v1/chat/completions', { ...chatStream, model, ...fields }, caller.token)
    await rig.upstream.received(1)
    aheadMs += 60_000
    // The response headers are sent with the first keep-alive. At this time, the limit would have ended the call long
    // before.
    const answer = await calling
    release.resolve()
    expect(eventsOf((await see(answer)).text).at(-1)).toBe('[DONE]')
    expect(keys()).toEqual(['slow'])
    await rig.gateway.setOption('StreamIdleTimeout', '60')
  })

  test.each([
    ['for all its models', { first_token_timeout: 5 }, {}, true],
    [
      'for all its models, but not for a call that asks for thinking',
      { first_token_timeout: 5 },
      { reasoning_effort: 'low' },
      false,
    ],
    [
      'for one model, whatever the call asks for',
      { first_token_timeouts: { MODEL: 5 } },
      { reasoning_effort: 'low' },
      true,
    ],
    ['of 0, which means none', { first_token_timeout: 0 }, { model: 'gpt-4o' }, false],
  ])('can be set by channel: %s', async (_, config, fields, moves) => {
    const models = `${model},gpt-4o`
    await channel({ key: 'mute', models, priority: 1, config: JSON.stringify(config).replace('MODEL', model) })
    await channel({ key: 'good', models })
    const release = Promise.withResolvers<void>()
    rig.upstream.forKey(
      'mute',
      fake.behaviour('mute for a while', async (exchange) => {
        await release.promise
        await fake.ok().run(exchange)
      }),
    )
    const caller = await rig.caller()
    const calling = rig.gateway.post('/v1/chat/completions', { ...chatStream, model, ...fields }, caller.token)
    await rig.upstream.received(1)
    aheadMs += 5_500
    if (!moves) {
      await new Promise((resolve) => setTimeout(resolve, 600))
      release.resolve()
    }
    const seen = await see(calling)
    release.resolve()
    expect(seen.status).toBe(200)
    expect(keys()).toEqual(moves ? ['mute', 'good'] : ['mute'])
  })
})

describe('X-Tollgate-Timeout', () => {
  test.each(['0', '-1', 'soon', '86401', '1e3', ''])('refuses %p', async (value) => {
    await channel({ key: 'only' })
    const { seen } = await call(chat, { 'x-tollgate-timeout': value })
    expectError(seen, 400, 'invalid_field_value')
    expect(seen.error?.param).toBe('x-tollgate-timeout')
    expect(keys()).toEqual([])
  })

  test('ends a call with all its attempts, charges nothing, and does not count as a failure of the channel', async () => {
    await channel({ key: 'silent', priority: 1 })
    await channel({ key: 'other' })
    rig.upstream.always(fake.neverAnswers())
    for (let index = 0; index < 5; index++) {
      const caller = await rig.caller()
      const headers = { 'x-tollgate-timeout': '8' }
      const calling = rig.gateway.post('/v1/chat/completions', { ...chat, model }, caller.token, { headers })
      await rig.upstream.received(index + 1)
      aheadMs += 8_100
      expectError(await see(calling), 504, 'upstream_timeout')
      await charged(rig, caller, 0)
    }
    expect(keys()).toEqual(new Array(5).fill('silent'))
    const { breaker } = rig.gateway.context.relay.relay
    expect(breaker.snapshot().filter((each) => each.model === model)).toEqual([])
  })

  test('leaves no time to wait for a busy service', async () => {
    await channel({ key: 'busy' })
    rig.upstream.always(fake.status(429, { retryAfter: 4 }))
    const { seen } = await call(chat, { 'x-tollgate-timeout': '3.5' })
    expectError(seen, 429, 'rate_limit_exceeded')
    expect(keys()).toEqual(['busy'])
  })

  test('of a stream ends it with an error event, and what was delivered is charged', async () => {
    await channel({ key: 'slow' })
    rig.upstream.always(fake.endlessStream())
    const caller = await rig.caller()
    const headers = { 'x-tollgate-timeout': '20' }
    const answer = await rig.gateway.post('/v1/chat/completions', { ...chatStream, model }, caller.token, { headers })
    expect(answer.status).toBe(200)
    aheadMs += 20_100
    const seen = await see(answer)
    expect(seen.error?.code).toBe('upstream_timeout')
    await until(async () => (await rig.gateway.balances(caller.userId, caller.tokenId)).holds === 0)
    expect((await rig.gateway.balances(caller.userId, caller.tokenId)).used).toBeGreaterThan(0)
  })

  test('RelayTimeout is for all attempts together, unless a channel has its own', async () => {
    await rig.gateway.setOption('RelayTimeout', '10')
    await channel({ key: 'silent', priority: 1 })
    await channel({ key: 'other' })
    rig.upstream.forKey('silent', fake.neverAnswers())
    const calling = call()
    await rig.upstream.received(1)
    aheadMs += 10_100
    expectError((await calling).seen, 504, 'upstream_timeout')
    expect(keys()).toEqual(['silent'])
  })
})
